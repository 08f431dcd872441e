package imagelist

import (
	"context"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset/internal/jsonstream"
	"github.com/infer-prep/infer-prep/store"
)

// JSON reads a JSON file, which must be one value.
func (l *List) JSON(ctx context.Context, name string, read func(*jsonstream.Scanner) error) (err error) {
	name = store.Join(l.Dir, name)
	f, err := l.lists.Open(ctx, l.Folder, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := jsonstream.New(f)
	if err = read(s); err == nil {
		err = s.End()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", store.Redact(name), err)
	}
	return nil
}
