package datagraph

import (
	"bytes"

	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// key names the format in the JSON form.
const key = `"infer_prep_graph"`

// Detect reports whether head begins a graph in JSON or msgp.
func Detect(head []byte) bool { return isMsg(head) || bytes.Contains(head, []byte(key)) }

// isMsg reports whether data starts with an array of msgp.
func isMsg(data []byte) bool {
	return len(data) > 0 && (data[0]&0xf0 == 0x90 || data[0] == 0xdc || data[0] == 0xdd)
}

// Parse reads a graph in JSON, which may begin with a byte order mark, or in
// msgp, and validates it. Nothing may follow the graph.
func Parse(data []byte) (*Graph, error) {
	g := &Graph{}
	if isMsg(data) {
		rest, err := g.UnmarshalMsg(data)
		if err == nil && len(rest) > 0 {
			err = errfmt.Errorf("datagraph: %w", graphErr("%d bytes after the graph", len(rest)))
		}
		return g, err
	}
	data, err := bom.Cut(data)
	if err != nil {
		return nil, errfmt.Errorf("datagraph: %w", graphErr("%v", err))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errfmt.Errorf("datagraph: %w", graphErr("the file is empty, want a graph"))
	}
	return g, g.UnmarshalJSON(data)
}
