package transforms

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Info describes an op.
type Info struct {
	Name    string // in graphs and on the command line: "center_crop"
	Version int    // of the parameters and their meaning, from 1
	// New returns the op with its default parameters.
	New func() Op
	In  []string // names of the inputs; nil means one, "image"
	Out []string // names of the outputs; nil means one, "image"
	// InPlace reports whether dst[0] may be src[0].
	InPlace bool
	// Reference names the implementation whose bytes the op produces, with the
	// measured version.
	Reference string
	// Exactness is the measured difference from the reference: "0" or a
	// sentence.
	Exactness string
}

var registered = registry.New[Info]("op")

// Register adds ops, which may be nil pointers of their types. A program needs
// it for the ops that it reads from graphs and bundles, by name: package
// transforms/all registers those of this package. Ops that a program makes in
// Go need no registration. Call Register from an init function. An op must
// have JSON tags and the methods MarshalMsg and UnmarshalMsg, which go generate
// writes. Register panics if a name is taken, which is a programming error.
func Register(ops ...Op) {
	for _, op := range ops {
		i := InfoOf(op)
		if i.Version < 1 {
			registered.Refuse(i.Name, errfmt.Sprintf("version %d, want at least 1", i.Version))
		}
		registered.Add(i.Name, i)
	}
}

// Lookup returns the description of a registered op. The error of an unknown
// name wraps ErrUnknownOp and suggests the closest known name.
func Lookup(name string) (Info, error) {
	i, err := registered.Lookup(name)
	switch {
	case err != nil && len(registered.Names()) == 0:
		return i, errfmt.Errorf("transforms: %w: import github.com/infer-prep/infer-prep/transforms/all", err)
	case err != nil:
		return i, errfmt.Errorf("transforms: %w", err)
	}
	return i, nil
}

// imageColumn is the input and the output of ops that name none.
var imageColumn = []string{"image"}

// InfoOf returns the description of an op, with the default columns. That of
// nil has Version 0 and the name "<nil>".
func InfoOf(op Op) Info {
	i := Info{Name: "<nil>"}
	if op != nil {
		i = op.Info()
	}
	if i.In == nil {
		i.In = imageColumn
	}
	if i.Out == nil {
		i.Out = imageColumn
	}
	return i
}

// Ops returns the registered ops, sorted by name.
func Ops() []Info { return slices.Clone(registered.All()) }

// spec is a registered op that can be serialized.
type spec interface {
	Op
	MarshalMsg(b []byte) ([]byte, error)
	UnmarshalMsg(b []byte) ([]byte, error)
}
