package mxnet

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeIterAsMXNet(t *testing.T) {
	for _, c := range readGolden(t).Resize {
		it, err := NewResizeIter(ndIter(t, c.N, func(o *NDArrayOptions) { o.BatchSize, o.LastBatch = c.Batch, c.Mode }), c.Size, c.Internal)
		require.NoError(t, err)
		for _, want := range c.Out {
			for _, w := range want {
				b, err := it.Next(t.Context())
				require.NoError(t, err)
				got := batchOf(t, b)
				require.Equal(t, fmt.Sprint(w), fmt.Sprint([]any{got.Rows, got.Pad}))
			}
			for range 2 {
				_, err = it.Next(t.Context())
				require.Equal(t, io.EOF, err)
			}
			require.NoError(t, it.Reset())
		}
		require.NoError(t, it.Close())
		require.NoError(t, it.Close())
		_, err = it.Next(t.Context())
		require.Equal(t, dataset.ErrClosed, err)
		require.Equal(t, dataset.ErrClosed, it.Reset())
	}
}

func TestResizeErrors(t *testing.T) {
	_, err := NewResizeIter(nil, 0, true)
	require.EqualError(t, err, "mxnet: ResizeIter: size = 0, want 1 or more")
	p, err := ParseMNISTParams(writeMNIST(t, t.TempDir(), 3, 2, 2))
	require.NoError(t, err)
	inner, err := NewMNISTIter(t.Context(), p)
	require.NoError(t, err)
	it, err := NewResizeIter(inner, 2, true)
	require.NoError(t, err)
	_, err = it.Next(t.Context())
	require.ErrorContains(t, err, "an epoch of no batches")
	require.Equal(t, tensor.Float32, it.ProvideData()[0].DType)
	require.Len(t, it.ProvideLabel(), 1)
	require.NoError(t, it.Close())
}
