package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The kinds of error, for errors.Is.
var (
	// ErrParam is the error of a parameter that cannot be.
	ErrParam = errors.New("invalid parameter")
	// ErrData is the error of data that is not what the source's format says.
	ErrData = errors.New("invalid data")
	// ErrUnknownNode is the error of a name or version that is not registered.
	ErrUnknownNode = errors.New("dataset: unknown node")
)

// Info describes a kind of Node to the registry.
type Info struct {
	Name    string // in definitions: "image_folder"
	Version int    // of the parameters and their meaning, from 1
	// New makes the node with its usual parameters. The value's type is the node's identity.
	New func() Node
	// Doc is a sentence for people.
	Doc string
}

var (
	byName = map[string]Info{}
	byType = map[reflect.Type]Info{}
)

// Register adds a kind of node; it is called from init functions. The JSON tags of
// the type's exported fields are its parameters' names. It panics on a name or type
// that is taken, which is a programming error.
func Register(i Info) {
	t := reflect.TypeOf(i.New())
	if _, ok := byName[i.Name]; ok || byType[t].Name != "" || i.Version < 1 || i.Name == "" {
		panic(fmt.Sprintf("dataset: cannot register node %q of type %v", i.Name, t))
	}
	byName[i.Name] = i
	byType[t] = i
}

// InfoOf finds a node's registration by its type. A node that nobody registered
// has a Name made from its type and Version 0.
func InfoOf(n Node) Info {
	if i, ok := byType[reflect.TypeOf(n)]; ok {
		return i
	}
	return Info{Name: fmt.Sprintf("%T", n)}
}

// Nodes lists the registered nodes by name.
func Nodes() []Info {
	var l []Info
	for _, i := range byName {
		l = append(l, i)
	}
	slices.SortFunc(l, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return l
}

// paramErr is an error of kind ErrParam.
func paramErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParam, fmt.Sprintf(format, args...))
}
