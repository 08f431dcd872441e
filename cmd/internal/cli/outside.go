package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/store"
)

// outside is the flag --allow-outside.
type outside bool

func (o *outside) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(o), "allow-outside", false, "follow all links and paths of lists out of the folder that was given; the default follows only links to images that are decoded")
}

// files returns the store of paths and URIs.
func (o outside) files() store.Opener {
	if o {
		return store.AllowOutside(store.URI)
	}
	return store.URI
}

// outsiders collects the errors of files that lead out of a folder, for one
// line about all of them.
type outsiders struct {
	first error
	n     int
}

// add reports whether err is such an error, which say prints.
func (o *outsiders) add(err error) bool {
	if !errors.Is(err, store.ErrOutside) {
		return false
	}
	if o.n++; o.n == 1 {
		o.first = err
	}
	return true
}

// say prints the line.
func (o *outsiders) say(a *app) {
	switch o.n {
	case 0:
	case 1:
		a.complain(o.first)
	default:
		a.complain(fmt.Errorf("%w; so does each of %s more", o.first, plural(o.n-1, "file")))
	}
}
