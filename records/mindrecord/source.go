package mindrecord

import (
	"context"
	"errors"
	"io"

	"github.com/infer-prep/infer-prep/store"
)

// source is the store that holds the files, and the context of opening them.
type source struct {
	ctx   context.Context
	store store.Opener
}

// disk is the source of files of the local disk.
var disk = source{context.Background(), store.Local}

// path returns a name as the source takes it: without file:// on the local
// disk.
func (s source) path(name string) (string, error) {
	if !store.IsLocal(s.store, name) {
		return name, nil
	}
	return path(name)
}

// reader fails once its context is done.
type reader struct {
	ctx context.Context
	in  io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// OpenStore is [Open] for the files of a store. ctx bounds OpenStore alone.
func OpenStore(ctx context.Context, o store.Opener, names []string, columns ...string) (*Set, error) {
	s, err := open(source{ctx, o}, names)
	if err != nil {
		return nil, err
	}
	if err := s.want(columns); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
