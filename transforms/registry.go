package transforms

import (
	"reflect"
	"slices"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Info is the registration of an op.
type Info struct {
	Name    string // in graphs and on the command line: "center_crop"
	Version int    // of the parameters and their meaning, from 1
	// New returns the op with its default parameters. The type of the value
	// identifies the op.
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

// Register adds an op. Call it from an init function. An op that graphs and
// bundles can hold must also have JSON tags and implement msgp.Marshaler and
// msgp.Unmarshaler, whose methods go generate writes. Register panics if the
// name or the type is taken, which is a programming error.
func Register(i Info) {
	if i.In == nil {
		i.In = []string{"image"}
	}
	if i.Out == nil {
		i.Out = []string{"image"}
	}
	if i.Version < 1 {
		registered.Refuse(i.Name, errfmt.Sprintf("version %d, want at least 1", i.Version))
	}
	registered.AddType(i.Name, i.New(), i)
}

// Lookup returns the registration of an op. The error of an unknown name wraps
// ErrUnknownOp and suggests the closest known name.
func Lookup(name string) (Info, error) {
	i, err := registered.Lookup(name)
	if err != nil {
		return i, errfmt.Errorf("transforms: %w", err)
	}
	return i, nil
}

// InfoOf returns an op's registration by its type. An unregistered op has
// Version 0 and the name of its type.
func InfoOf(op Op) Info {
	if i, ok := registered.ByType(op); ok {
		return i
	}
	return Info{Name: typeName(op), In: []string{"image"}, Out: []string{"image"}}
}

// typeName returns the name of an op's type, "<nil>" if op is nil.
func typeName(op Op) string {
	if op == nil {
		return "<nil>"
	}
	return reflect.TypeOf(op).String()
}

// Ops returns the registered ops, sorted by name.
func Ops() []Info { return slices.Clone(registered.All()) }

// spec is a registered op that can be serialized.
type spec interface {
	Op
	msgp.Marshaler
	msgp.Unmarshaler
}
