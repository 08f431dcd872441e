package dataset

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/internal/registry"
)

// The kinds of error, for errors.Is.
var (
	// ErrParam reports an invalid parameter.
	ErrParam = errors.New("invalid parameter")
	// ErrData reports data that does not follow the source's format.
	ErrData = errors.New("invalid data")
	// ErrUnknownNode reports a node name or version that is not registered.
	ErrUnknownNode = nodes.ErrUnknown()
)

// Info describes a kind of Node to the registry.
type Info struct {
	Name    string // in definitions: "image_folder"
	Version int    // of the parameters and their meaning, from 1
	// New returns a node with default parameters. The type of the value
	// identifies the kind of node.
	New func() Node
	// Doc is one sentence for people.
	Doc string
}

var nodes = registry.New[Info]("dataset node")

// Register registers a kind of node; init functions call it. The JSON tags of
// the type's exported fields name its parameters. Register panics if the name
// or the type is taken, or if the version is below 1.
func Register(i Info) {
	if i.Version < 1 {
		nodes.Refuse(i.Name, fmt.Sprintf("version %d, want 1 or more", i.Version))
	}
	nodes.AddType(i.Name, i.New(), i)
}

// InfoOf returns the registration of a node's type. The Info of an unregistered
// node has a Name made from its type, and Version 0.
func InfoOf(n Node) Info {
	if i, ok := nodes.ByType(n); ok {
		return i
	}
	return Info{Name: fmt.Sprintf("%T", n)}
}

// Nodes returns the registered nodes, sorted by name. The slice is shared: do
// not modify it.
func Nodes() []Info { return nodes.All() }

// paramErr returns an error that wraps ErrParam.
func paramErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParam, fmt.Sprintf(format, args...))
}
