// Package docs holds the pages that programs print. They are compressed: in
// full they would be 0.4 MB of a program.
package docs

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

var (
	//go:embed ops.md.gz
	ops []byte
	//go:embed nodes.md.gz
	nodes []byte
)

// Ops returns ops.md, the page of the ops.
func Ops() string { return page(ops) }

// Nodes returns nodes.md, the page of the nodes of datasets.
func Nodes() string { return page(nodes) }

// page returns a page that tools/opdoc compressed.
func page(b []byte) string {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		b, err = io.ReadAll(z)
	}
	if err != nil {
		panic("docs: " + err.Error()) // a test of tools/opdoc reads the pages
	}
	return string(b)
}
