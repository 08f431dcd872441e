package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset"
	_ "github.com/infer-prep/infer-prep/dataset/all" // every source
	"github.com/infer-prep/infer-prep/importer"
)

// ReadDefinition reads a dataset's definition. The name - means stdin.
func ReadDefinition(ctx context.Context, name string, stdin io.Reader) (*dataset.Dataset, error) {
	b, err := ReadUTF8(ctx, name, stdin)
	if err != nil {
		return nil, command.UsageErr("%w", err)
	}
	d := &dataset.Dataset{}
	if err := d.UnmarshalJSON(importer.Text(b)); err != nil {
		hint := ""
		if n, ok := errors.AsType[*dataset.NodeError](err); ok && errors.Is(err, dataset.ErrUnknownNode) {
			switch path.Base(n.Path) {
			case "arrow", "parquet":
				hint = command.InFull("it")
			}
		}
		return nil, command.UsageErr("%s: %w%s", name, err, hint)
	}
	return d, nil
}

// WrongDefinition returns an error of Build as a usage error, or as a failure
// if files or data caused it.
func WrongDefinition(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) || errors.Is(err, dataset.ErrData) {
		return command.FailErr("%w", err)
	}
	return DeviceErr(err)
}
