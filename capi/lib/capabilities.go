package main

// #include "infer_prep.h"
import "C"

import (
	"encoding/json"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/transforms"
)

// capabilities is a text of C that is never freed.
var capabilities = sync.OnceValues(func() (*C.char, error) {
	var c struct {
		Formats    []string `json:"formats"`
		Importers  []string `json:"importers"`
		Presets    []string `json:"presets"`
		Ops        []string `json:"ops"`
		Processors []string `json:"processors"`
	}
	for _, f := range codec.Formats() {
		if f != "memory" && f != "pixels" { // these are no files
			c.Formats = append(c.Formats, f)
		}
	}
	c.Importers, c.Presets, c.Processors = importer.Names(), preset.Names(), tokens.Classes()
	for _, o := range transforms.Ops() {
		c.Ops = append(c.Ops, o.Name)
	}
	b, err := json.Marshal(c)
	return C.CString(string(b)), err
})

//export ipgo_capabilities
func ipgo_capabilities(text **C.char, e *C.ip_error) C.ip_status {
	return do(e, func() (err error) {
		*text, err = capabilities()
		return err
	})
}
