package clib

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
)

// Decoder describes a library that decodes an image format.
type Decoder struct {
	Library
	Name    string // of the library
	Format  string
	Install string // how to install it
}

// Find is Library.Find for a library that only the environment variable can
// name. It returns ErrUnsupported where programs cannot load libraries.
func (d *Decoder) Find() (string, error) {
	if !Supported {
		return "", Unsupported(d.purpose())
	}
	return d.Library.Find("", "")
}

// Address loads the library at path, which Find returned, and returns the
// address of a symbol. The error for a library that was not found says what it
// is for and how to install it.
func (d *Decoder) Address(path, symbol string) (uintptr, error) {
	err := errors.New("no file of that name")
	if path != "" {
		var fn uintptr
		if fn, err = Load(path, symbol); err == nil {
			return fn, nil
		}
	}
	if path == "" || filepath.Base(path) == path {
		return 0, fmt.Errorf("%s, was not found. Install it (%s), or name it or its folder in the environment variable %s (%w)", d.purpose(), d.Install, d.Environment, err)
	}
	return 0, fmt.Errorf("%s: %w", d.Name, err)
}

// Addresses stores the addresses of symbols, by name, as Address returns them.
func (d *Decoder) Addresses(path string, symbols map[string]*uintptr) (err error) {
	for _, name := range slices.Sorted(maps.Keys(symbols)) {
		if *symbols[name], err = d.Address(path, name); err != nil {
			return err
		}
	}
	return nil
}

// Once returns a function that finds, opens and proves a library at its first
// call. Its result never changes.
func Once[L any](where func() *Decoder, open func(path string) (L, error), prove func(L) error) func() (L, error) {
	return sync.OnceValues(func() (l L, err error) {
		path, err := where().Find()
		if err != nil {
			return l, err
		}
		if l, err = open(path); err != nil {
			return *new(L), err
		}
		return l, prove(l)
	})
}

func (d *Decoder) purpose() string { return d.Name + ", which decodes " + d.Format }

// Field returns the field at an offset of the structure at p, in C memory.
func Field[T any](p, offset uintptr) *T { return (*T)(At(p + offset)) }
