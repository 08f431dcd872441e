package mds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

const golden = "../../testdata/mds/"

func TestStreaming(t *testing.T) {
	require.Equal(t, 6*7, sourcetest.Golden(t, golden+"streaming.json"))
}

func TestStore(t *testing.T) {
	for _, name := range []string{"all", "zstd"} {
		sourcetest.Store(t, golden+name, func(dir string) dataset.Source { return New(dir) })
	}
}

func TestColumns(t *testing.T) {
	src := New(golden + "odd")
	_, err := src.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorIs(t, err, records.ErrUnsupported)
	src.Columns = []string{"none"}
	_, err = src.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	src.Columns = []string{"int"}
	sourcetest.Run(t, src)
	src.Columns = []string{"int", "int"}
	require.ErrorIs(t, src.Validate(), dataset.ErrParam)

	// The key is one allocation, and its number another.
	require.LessOrEqual(t, sourcetest.Allocs(t, New(golden+"written")), 2.0)

	d := dataset.From(New(golden + "zstd"))
	_, err = dataset.Build(t.Context(), d.Shuffle(), dataset.Options{})
	require.ErrorContains(t, err, "needs random access")
	b, err := dataset.Build(t.Context(), dataset.From(New(golden+"all")).Shuffle(), dataset.Options{})
	require.NoError(t, err)
	require.NoError(t, b.Close())
}
