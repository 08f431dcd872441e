//go:build wasip1 && full

package main

import (
	"bytes"
	"encoding/json"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	_ "github.com/infer-prep/infer-prep/sound/all"      // every sound format
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func init() {
	kinds = append(kinds, kindOf{importer.ErrUnsupported, kindUnsupported}, kindOf{importer.ErrUnknownClass, kindUnsupported}, kindOf{importer.ErrJSON, kindGraph})
	for _, err := range []error{importer.ErrUnknownKey, importer.ErrMissing, importer.ErrValue, importer.ErrIgnore, importer.ErrBackend, importer.ErrUnknown} {
		kinds = append(kinds, kindOf{err, kindParam})
	}
}

// importHead starts what the package's fromHF opens: a JSON object with the
// options, and the bytes of a file.
const importHead = `{"infer_prep_import":`

// imported imports a file of another ecosystem.
func imported(b []byte) (*datagraph.Graph, error) {
	var o struct {
		Importer   string   `json:"infer_prep_import"`
		Backend    string   `json:"backend"`
		Decoder    string   `json:"decoder"`
		IgnoreKeys []string `json:"ignore_keys"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&o); err != nil {
		return nil, errfmt.Errorf("wasm: options of an import: %w", err)
	}
	i, err := importer.Lookup(o.Importer)
	if err != nil {
		return nil, err
	}
	return i.Open(b[d.InputOffset():], importer.Options{Backend: o.Backend, Decoder: o.Decoder, IgnoreKeys: o.IgnoreKeys})
}

// parse reads a graph in JSON or msgpack form, or imports a file.
func parse(b []byte) (*datagraph.Graph, error) {
	if bytes.HasPrefix(b, []byte(importHead)) {
		return imported(b)
	}
	return datagraph.Parse(b)
}
