package transforms

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNewOwns checks that every op has its own memory: JSON and msgp are read
// into the slices that New returned, so a shared one would change other ops.
func TestNewOwns(t *testing.T) {
	for _, i := range Ops() {
		require.Empty(t, shared(i.Name, reflect.ValueOf(i.New()).Elem(), reflect.ValueOf(i.New()).Elem()))
	}
}

// shared returns the name of the first slice or map that two values of a type
// share, and "" if there is none.
func shared(name string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Slice, reflect.Map:
		if (a.Kind() == reflect.Map && !a.IsNil() || a.Kind() == reflect.Slice && a.Cap() > 0) && a.Pointer() == b.Pointer() {
			return name
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if s := shared(name+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); s != "" {
				return s
			}
		}
	}
	return ""
}
