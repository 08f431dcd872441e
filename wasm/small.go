//go:build wasip1 && !full

package main

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// parse reads a graph in msgpack form. The small build has no JSON, which
// datagraph.Parse would link.
func parse(b []byte) (*datagraph.Graph, error) {
	g := &datagraph.Graph{}
	rest, err := g.UnmarshalMsg(b)
	if err == nil && len(rest) > 0 {
		err = errfmt.Errorf("wasm: %w: %d bytes after its end", datagraph.ErrGraph, len(rest))
	}
	return g, err
}
