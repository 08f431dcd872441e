package mxnet

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
)

// ResizeIter iterates over epochs of a fixed number of batches of another
// iterator. When that iterator's epoch ends, ResizeIter resets it and continues
// with its next epoch. (MXNet: mx.io.ResizeIter.)
type ResizeIter struct {
	it       DataIter
	size     int
	internal bool
	at       int
	ended    error
}

// NewResizeIter returns an iterator of size batches per epoch, 1 or more.
// resetInternal also resets it at each Reset; MXNet's default is true.
// Otherwise an epoch starts after the last batch of the one before. The new
// iterator owns it: Close closes it, unless NewResizeIter fails. An invalid
// size is a *ParamError.
func NewResizeIter(it DataIter, size int, resetInternal bool) (*ResizeIter, error) {
	if size < 1 {
		return nil, &ParamError{Iter: "ResizeIter", Name: "size", Value: strconv.Itoa(size), Want: "1 or more"}
	}
	return &ResizeIter{it: it, size: size, internal: resetInternal}, nil
}

// ProvideData describes the batches' data.
func (r *ResizeIter) ProvideData() []DataDesc { return r.it.ProvideData() }

// ProvideLabel describes the batches' labels.
func (r *ResizeIter) ProvideLabel() []DataDesc { return r.it.ProvideLabel() }

// Next returns the next batch; see DataIter. An iterator without batches is an
// error.
func (r *ResizeIter) Next(ctx context.Context) (*DataBatch, error) {
	if r.ended != nil {
		return nil, r.ended
	}
	if r.at == r.size {
		return nil, io.EOF
	}
	b, err := r.it.Next(ctx)
	if err == io.EOF {
		if err = r.it.Reset(); err != nil {
			return nil, err
		}
		if b, err = r.it.Next(ctx); err == io.EOF {
			err = fmt.Errorf("mxnet: ResizeIter: %w: an epoch of no batches, want at least one", dataset.ErrData)
		}
	}
	if err != nil {
		return nil, err
	}
	r.at++
	return b, nil
}

// Reset starts the next epoch.
func (r *ResizeIter) Reset() error {
	if r.ended != nil {
		return r.ended
	}
	r.at = 0
	if r.internal {
		return r.it.Reset()
	}
	return nil
}

// Close closes the iterator.
func (r *ResizeIter) Close() error {
	if r.ended != nil {
		return nil
	}
	r.ended = dataset.ErrClosed
	return r.it.Close()
}
