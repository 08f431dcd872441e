//go:build wasip1 && full

package main

import (
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
)

// parse reads a graph in msgpack form, or in JSON form, which starts with a
// brace or white space.
func parse(b []byte) (*datagraph.Graph, error) {
	if len(b) > 0 && (b[0] == '{' || b[0] <= ' ') {
		g := &datagraph.Graph{}
		return g, g.UnmarshalJSON(b)
	}
	return parseMsg(b)
}
