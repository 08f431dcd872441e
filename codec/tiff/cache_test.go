package tiff_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/tiff"
)

// TestCache reads random windows of all files from several goroutines, with one
// cache for all of them, and with limits that hold all tiles, a few and none.
func TestCache(t *testing.T) {
	type file struct {
		image *tiff.Image
		info  tiff.Info
		whole []byte
	}
	names, err := filepath.Glob("testdata/*.tif")
	require.NoError(t, err)
	for _, limit := range []int64{1 << 30, 30_000, 0} {
		cache, err := tiff.NewCache(limit)
		require.NoError(t, err)
		var files []file
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			i := open(t, bytes.NewReader(data), len(data), &tiff.Options{Cache: cache, Workers: len(files)%3 + 1})
			f, err := i.Info()
			require.NoError(t, err)
			all := codec.Region{Width: f.Width, Height: f.Height}
			n, err := i.Size(all)
			require.NoError(t, err)
			whole := make([]byte, n)
			image := open(t, bytes.NewReader(data), len(data), nil)
			require.NoError(t, image.Read(whole, all))
			files = append(files, file{i, f, whole})
		}
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for g := range errs {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(9, uint64(g)))
				for range 200 {
					x := &files[r.IntN(len(files))]
					w := codec.Region{Left: r.IntN(x.info.Width), Top: r.IntN(x.info.Height)}
					w.Width, w.Height = 1+r.IntN(x.info.Width-w.Left), 1+r.IntN(x.info.Height-w.Top)
					n, err := x.image.Size(w)
					dst := make([]byte, n)
					if err == nil {
						err = x.image.Read(dst, w)
					}
					pixel := n / (w.Width * w.Height)
					for y := range w.Height {
						at := ((w.Top+y)*x.info.Width + w.Left) * pixel
						if err == nil && !bytes.Equal(x.whole[at:][:w.Width*pixel], dst[y*w.Width*pixel:][:w.Width*pixel]) {
							err = fmt.Errorf("row %d of window %+v of %+v differs", y, w, x.info)
						}
					}
					if err != nil {
						errs[g] = err
						return
					}
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
	}
	_, err = tiff.NewCache(-1)
	require.EqualError(t, err, "tiff: cache of -1 bytes: want 0 or more")
}

// broken fails to read a part of a file until it is mended.
type broken struct {
	io.ReaderAt
	from, to int64
}

func (b *broken) ReadAt(p []byte, at int64) (int, error) {
	if at < b.to && at+int64(len(p)) > b.from {
		return 0, io.ErrClosedPipe
	}
	return b.ReaderAt.ReadAt(p, at)
}

// TestCacheError reads tiles of a file that fails: the error is not kept.
func TestCacheError(t *testing.T) {
	data, err := os.ReadFile("testdata/u16_deflate_tiled.tif")
	require.NoError(t, err)
	cache, err := tiff.NewCache(1 << 20)
	require.NoError(t, err)
	b := &broken{ReaderAt: bytes.NewReader(data)}
	i := open(t, b, len(data), &tiff.Options{Cache: cache})
	f, err := i.Info()
	require.NoError(t, err)
	_, err = i.Geo()
	require.NoError(t, err)
	w := codec.Region{Width: f.Width, Height: f.Height}
	b.to = int64(len(data))
	for range 3 {
		_, err = i.Tensor(w)
		require.ErrorIs(t, err, io.ErrClosedPipe)
	}
	b.to = 0
	_, err = i.Tensor(w)
	require.NoError(t, err)
	b.to = int64(len(data))
	_, err = i.Tensor(w) // from the cache
	require.NoError(t, err)
}

// TestPadded reads windows past the edges and bands in another order.
func TestPadded(t *testing.T) {
	data, err := os.ReadFile("testdata/i16_planar_13.tif")
	require.NoError(t, err)
	i := open(t, bytes.NewReader(data), len(data), nil)
	f, err := i.Info()
	require.NoError(t, err)
	require.Equal(t, "int16", f.Type)
	w := codec.Region{Left: f.Width - 2, Top: f.Height - 1, Width: 3, Height: 2}
	inside := codec.Region{Left: w.Left, Top: w.Top, Width: 2, Height: 1}
	all, err := i.Tensor(inside)
	require.NoError(t, err)
	dst := bytes.Repeat([]byte{0xEE}, 3*2*2*2)
	require.NoError(t, i.ReadPadded(dst, w, []int{12, 3}))
	pixel := 2 * f.Bands
	want := append([]byte{}, all.Data[24:26]...)
	want = append(want, all.Data[6:8]...)
	want = append(want, all.Data[pixel+24:pixel+26]...)
	want = append(want, all.Data[pixel+6:pixel+8]...)
	fill := binary.NativeEndian.AppendUint16(nil, 1<<15) // the no-data value
	require.Equal(t, append(want, bytes.Repeat(fill, 8)...), dst)

	for want, err := range map[string]error{
		"tiff: read: band 13: want 0 to 12":    i.ReadPadded(dst, w, []int{13}),
		"tiff: read: band -1: want 0 to 12":    i.ReadPadded(dst, w, []int{-1}),
		"tiff: read: 0 bands: want 1 to 64":    i.ReadPadded(dst, w, []int{}),
		"tiff: read: destination of 24 bytes:": i.ReadPadded(dst, w, []int{1}),
		"tiff: window of ":                     i.ReadPadded(dst, codec.Region{Left: f.Width, Width: 3, Height: 2}, []int{12, 3}),
		"tiff: window of 3x-2 pixels":          i.ReadPadded(dst, codec.Region{Width: 3, Height: -2}, nil),
	} {
		require.ErrorContains(t, err, want)
	}
}

// TestMissing looks for tiles that a sparse file lacks.
func TestMissing(t *testing.T) {
	data, err := os.ReadFile("testdata/sparse_nodata.tif")
	require.NoError(t, err)
	i := open(t, bytes.NewReader(data), len(data), nil)
	f, err := i.Info()
	require.NoError(t, err)
	g, err := i.Geo()
	require.NoError(t, err)
	require.True(t, g.HasNoData)
	missing := 0
	for top := 0; top < f.Height; top += f.BlockHeight {
		for left := 0; left < f.Width; left += f.BlockWidth {
			w := codec.Region{Left: left, Top: top, Width: min(f.BlockWidth, f.Width-left), Height: min(f.BlockHeight, f.Height-top)}
			gone, err := i.Missing(w)
			require.NoError(t, err)
			if gone {
				missing++
			}
		}
	}
	require.Positive(t, missing)
	gone, err := i.Missing(codec.Region{Width: f.Width, Height: f.Height})
	require.NoError(t, err)
	require.False(t, gone)
	_, err = i.Missing(codec.Region{Width: f.Width + 1, Height: 1})
	require.ErrorContains(t, err, "tiff: window of")
}
