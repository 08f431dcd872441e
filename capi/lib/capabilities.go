package main

/*
#include "infer_prep.h"

extern char *ipc_capabilities;
*/
import "C"

import (
	"encoding/json"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/transforms"
)

// capabilities sets C.ipc_capabilities to a text that is never freed. A
// variable of C shows leak detectors that it is in use.
var capabilities = sync.OnceValue(func() error {
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
	c.Importers, c.Presets, c.Processors = importers(), preset.Names(), processors()
	for _, o := range transforms.Ops() {
		c.Ops = append(c.Ops, o.Name)
	}
	b, err := json.Marshal(c)
	C.ipc_capabilities = C.CString(string(b))
	return err
})

//export ipgo_capabilities
func ipgo_capabilities(text **C.char, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		err := capabilities()
		*text = C.ipc_capabilities
		return err
	})
}
