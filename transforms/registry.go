package transforms

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tinylib/msgp/msgp"
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

var (
	byName = map[string]Info{}
	byType = map[reflect.Type]Info{}
)

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
	t := reflect.TypeOf(i.New())
	if _, ok := byName[i.Name]; ok || byType[t].Name != "" || i.Version < 1 || i.Name == "" {
		panic(fmt.Sprintf("transforms: cannot register op %q of type %v", i.Name, t))
	}
	byName[i.Name] = i
	byType[t] = i
}

// Lookup finds an op by name.
func Lookup(name string) (Info, bool) {
	i, ok := byName[name]
	return i, ok
}

// InfoOf finds an op's registration by its type. An op that nobody registered
// has a Name made from its type and Version 0.
func InfoOf(op Op) Info {
	if i, ok := byType[reflect.TypeOf(op)]; ok {
		return i
	}
	return Info{Name: fmt.Sprintf("%T", op), In: []string{"image"}, Out: []string{"image"}}
}

// Ops lists the registered ops by name.
func Ops() []Info {
	l := make([]Info, 0, len(byName))
	for _, i := range byName {
		l = append(l, i)
	}
	slices.SortFunc(l, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return l
}

// spec is what a registered op must be in order to be written.
type spec interface {
	Op
	msgp.Marshaler
	msgp.Unmarshaler
}
