//go:build cgo || wasip1

package main

import (
	"encoding/json"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/transforms"
)

// capabilities returns the text of ip_capabilities.
var capabilities = sync.OnceValues(func() ([]byte, error) {
	var c struct {
		Build      string   `json:"build"`
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
	c.Build = form
	c.Importers, c.Presets, c.Processors = importers(), preset.Names(), processors()
	for _, o := range transforms.Ops() {
		c.Ops = append(c.Ops, o.Name)
	}
	return json.Marshal(c)
})
