package source

import (
	"context"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/store"
)

// OpenBundle opens a bundle file. Its errors name the file.
func OpenBundle(ctx context.Context, path string, l codec.Limits) (*modelbundle.Bundle, error) {
	limits := modelbundle.DefaultLimits()
	limits.Run = l
	b, err := modelbundle.OpenStore(ctx, store.URI, paths.StoreName(path), limits)
	if err != nil {
		return nil, command.WrapFail(paths.Error(path, err))
	}
	return b, nil
}
