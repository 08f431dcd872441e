package cli

import (
	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/store"
)

// outside is the flag --allow-outside.
type outside bool

func (o *outside) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(o), "allow-outside", false, "follow links and paths of lists out of the folder that was given; the default refuses them")
}

// files returns the store of paths and URIs.
func (o outside) files() store.Opener {
	if o {
		return store.AllowOutside(store.URI)
	}
	return store.URI
}
