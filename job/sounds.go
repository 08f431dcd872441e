package job

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/transforms"
)

// Noun names one input of a graph, for messages: "sound" if the op that takes
// the first input decodes sounds, else "image".
func Noun(g *datagraph.Graph) string {
	if sniffer(g) != nil {
		return "sound"
	}
	return "image"
}

// For makes the files of the listing those of a graph: File.IsImage and
// File.Read then look for the sounds or images that it decodes. Without For
// they look for images.
func (l *Listing) For(g *datagraph.Graph) {
	sniff := sniffer(g)
	for i := range l.Files {
		l.Files[i].sniff = sniff
	}
}

// noInputs returns an ErrNoImages in words that fit the graph.
func (r *run) noInputs() error {
	return fmt.Errorf("job: %w", &noInputsError{Noun(r.job.Preprocessor.Pool().Plan().Graph())})
}

type noInputsError struct{ noun string }

func (e *noInputsError) Error() string        { return "no " + e.noun + "s found" }
func (e *noInputsError) Is(target error) bool { return target == ErrNoImages }

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
