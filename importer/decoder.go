package importer

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/datagraph"
)

// ErrDecoder reports a decoder that an importer does not have, or that a graph
// cannot use.
var ErrDecoder = errors.New("invalid decoder")

// Decoder is a way in which programs of an ecosystem read image files before
// they pass the pixels on.
type Decoder struct {
	// Doc says in a line what the decoder does, with the program's version.
	Doc string
	// Apply changes the decode steps of a graph that the importer made. Its
	// errors are reported as ErrDecoder.
	Apply func(*datagraph.Graph) error
}

// decode sets the decoder of a graph that i imported.
func (i Importer) decode(g *datagraph.Graph, name string) error {
	d, ok := i.Decoders[name]
	if !ok {
		return noSuch(i, ErrDecoder, "decoders", name, i.Decoders)
	}
	if err := d.Apply(g); err != nil {
		return fmt.Errorf("%w %q: %w", ErrDecoder, name, err)
	}
	g.Reference += ", decoder " + name
	return nil
}
