//go:build wasip1 && !small

package main

import (
	"encoding/json"

	"github.com/infer-prep/infer-prep/importer/hf/tokens"
)

// source returns the files that reopenProcessor takes.
func (p *processor) source() ([]byte, error) { return json.Marshal(p.files) }

func reopenProcessor(b []byte) (*processor, error) {
	var f tokens.Files
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	return newProcessor(f)
}
