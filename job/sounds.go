package job

import (
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/transforms"
)

// For makes IsImage report the files that a graph decodes: sounds, if the op
// that takes its first input decodes those.
func (l *Listing) For(g *datagraph.Graph) {
	sniff := sniffer(g)
	for i := range l.Files {
		l.Files[i].sniff = sniff
	}
}

// sniffer returns File.sniff for the files that a graph decodes, by the op that
// takes its first input.
func sniffer(g *datagraph.Graph) func(head []byte) bool {
	if len(g.Inputs) == 0 {
		return nil
	}
	for _, s := range g.Steps {
		if !slices.Contains(s.In, g.Inputs[0].Name) {
			continue
		}
		switch s.Op.(type) {
		case *transforms.DecodeSound:
			return func(head []byte) bool { return sound.Sniff(head) != "" }
		case *transforms.DecodePCM: // any bytes are samples
			return func([]byte) bool { return true }
		}
		return nil
	}
	return nil
}
