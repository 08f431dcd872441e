package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/store"
)

// Outside is the flag --allow-outside.
type Outside bool

func (o *Outside) Add(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(o), "allow-outside", false, "follow all links and paths of lists out of the folder that was given; the default follows only links to images that are decoded")
}

// Files returns the store of paths and URIs.
func (o Outside) Files() store.Opener {
	if o {
		return store.AllowOutside(store.URI)
	}
	return store.URI
}

// Outsiders collects the errors of files that lead out of a folder, for one
// line about all of them.
type Outsiders struct {
	first error
	n     int
}

// Add reports whether err is such an error, which say prints.
func (o *Outsiders) Add(err error) bool {
	if !errors.Is(err, store.ErrOutside) {
		return false
	}
	if o.n++; o.n == 1 {
		o.first = err
	}
	return true
}

// Say prints the line.
func (o *Outsiders) Say(a *App) {
	switch o.n {
	case 0:
	case 1:
		a.Complain(o.first)
	default:
		a.Complain(fmt.Errorf("%w; so does each of %s more", o.first, Plural(o.n-1, "file")))
	}
}
