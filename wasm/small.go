//go:build wasip1 && !full

package main

import "github.com/infer-prep/infer-prep/datagraph"

// parse reads a graph in msgpack form. The small build has no JSON.
func parse(b []byte) (*datagraph.Graph, error) { return parseMsg(b) }
