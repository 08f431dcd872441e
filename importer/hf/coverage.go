package hf

import (
	"slices"
	"strings"
)

//go:generate go run ./gen

// Class is one of transformers' image processors.
type Class struct {
	// Name is the class's name, such as "ViTImageProcessor".
	Name string
	// Backends are those that the class has, its default first: torchvision,
	// pil, or numpy for its own code.
	Backends []string
	// Partial is the reason why a backend refuses the class's own defaults. If
	// it is empty, the class is supported, exactly.
	Partial string
	// Cases counts the committed configurations of the class whose outputs are
	// equal to those of each backend, bit for bit, in the order of Backends.
	// The package's tests compare them.
	Cases []int
}

// Classes lists the image processors of transformers 5.23.0, sorted by name.
// The caller may change the slice.
func Classes() []Class {
	l := slices.Clone(coverage)
	for i := range l {
		l[i].Partial = classes()[strings.TrimSuffix(l[i].Name, suffix)].partial
	}
	return l
}
