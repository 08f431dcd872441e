// Package spec reads the JSON form of parameters that are written in full.
package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Unmarshal reads a JSON object into the struct that v points to: every field
// must be there, and no other. Slices and structs of v are replaced, not merged.
// v has the usual values, which the error of a missing one names.
func Unmarshal(b []byte, v any) error {
	usual := reflect.ValueOf(v).Elem()
	var have map[string]json.RawMessage
	if err := json.Unmarshal(b, &have); err != nil {
		return fmt.Errorf("parameters: %w, want an object", err)
	}
	for i := range usual.NumField() {
		f := usual.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			return fmt.Errorf("%T.%s has no json tag", v, f.Name)
		}
		// encoding/json takes null for the zero value, which is as good as missing.
		if v, ok := have[name]; !ok || string(v) == "null" {
			u, _ := json.Marshal(usual.Field(i).Interface())
			return fmt.Errorf("parameter %q is missing; parameters are written in full, usually %s", name, u)
		}
		usual.Field(i).SetZero()
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("parameters: data after the object")
	}
	return nil
}
