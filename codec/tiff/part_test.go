package tiff_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
	"github.com/infer-prep/infer-prep/internal/short"
)

// TestPartOfBlock: windows for which the first rows of blocks are decompressed
// equal those from whole blocks, which a Cache keeps.
func TestPartOfBlock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name := range goldens(t) {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		cache, err := tiff.NewCache(1 << 30)
		require.NoError(t, err)
		part, whole := open(t, bytes.NewReader(data), len(data), nil), open(t, bytes.NewReader(data), len(data), &tiff.Options{Cache: cache})
		f, err := part.Info()
		require.NoError(t, err)
		for range short.Rounds(t, 40, 5) {
			w := codec.Region{Left: r.IntN(f.Width), Top: r.IntN(f.Height)}
			w.Width, w.Height = 1+r.IntN(f.Width-w.Left), 1+r.IntN(f.Height-w.Top)
			n, err := part.Size(w)
			require.NoError(t, err)
			got, want := make([]byte, n), make([]byte, n)
			require.NoError(t, part.Read(got, w))
			require.NoError(t, whole.Read(want, w))
			require.True(t, bytes.Equal(want, got), "%s: %v", name, w)
		}
	}
}

// TestDamageAfterPart damages the end of each tile's data: only windows that
// need a tile's last row find it.
func TestDamageAfterPart(t *testing.T) {
	data, err := os.ReadFile("testdata/u16_deflate_tiled.tif")
	require.NoError(t, err)
	tiles := bytes.Split(data, []byte("\x78\x9c")) // the beginning of zlib's data
	require.Greater(t, len(tiles), 3)
	for _, tile := range tiles[1:] {
		clear(tile[len(tile)-16:])
	}
	i := open(t, bytes.NewReader(data), len(data), nil)
	f, err := i.Info()
	require.NoError(t, err)
	read := func(w codec.Region) error {
		n, err := i.Size(w)
		require.NoError(t, err)
		return i.Read(make([]byte, n), w)
	}
	require.NoError(t, read(codec.Region{Width: 4, Height: 3}))
	require.ErrorIs(t, read(codec.Region{Width: f.Width, Height: f.Height}), codec.ErrFormat)
}
