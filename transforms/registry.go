package transforms

import (
	"fmt"
	"slices"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/internal/registry"
)

// Info describes an op to the registry.
type Info struct {
	Name    string // in graphs and on the command line: "center_crop"
	Version int    // of the parameters and their meaning, from 1
	// New makes the op with its usual parameters, all of them written out. The
	// value's type is the op's identity.
	New func() Op
	In  []string // the inputs' names; nil means one, "image"
	Out []string // the outputs' names; nil means one, "image"
	// InPlace says that dst[0] may be src[0].
	InPlace bool
	// Reference names whose bytes the op gives, with the version they were measured at.
	Reference string
	// Exactness is the measured difference from the reference: "0" or a sentence.
	Exactness string
}

var registered = registry.New[Info]("op")

// Register adds an op; it is called from init functions. An op that is to be
// written in graphs and bundles must also implement msgp.Marshaler and
// msgp.Unmarshaler (the msgp tool writes them) and have JSON tags. It panics on a
// name or type that is taken, which is a programming error.
func Register(i Info) {
	if i.In == nil {
		i.In = []string{"image"}
	}
	if i.Out == nil {
		i.Out = []string{"image"}
	}
	if i.Version < 1 {
		registered.Refuse(i.Name, fmt.Sprintf("version %d: must be at least 1", i.Version))
	}
	registered.AddType(i.Name, i.New(), i)
}

// Lookup returns the registration of an op. The error of an unknown name wraps
// ErrUnknownOp and suggests the closest known name.
func Lookup(name string) (Info, error) {
	i, err := registered.Lookup(name)
	if err != nil {
		return i, fmt.Errorf("transforms: %w", err)
	}
	return i, nil
}

// InfoOf finds an op's registration by its type. An op that nobody registered
// has a Name made from its type and Version 0.
func InfoOf(op Op) Info {
	if i, ok := registered.ByType(op); ok {
		return i
	}
	return Info{Name: fmt.Sprintf("%T", op), In: []string{"image"}, Out: []string{"image"}}
}

// Ops returns the registered ops, sorted by name.
func Ops() []Info { return slices.Clone(registered.All()) }

// spec is what a registered op must be in order to be written.
type spec interface {
	Op
	msgp.Marshaler
	msgp.Unmarshaler
}
