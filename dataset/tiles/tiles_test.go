package tiles_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/codec/tiff"
	_ "github.com/infer-prep/infer-prep/codec/webp"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/dataset/tiles"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/httpstore"
	"github.com/infer-prep/infer-prep/store/remote"
	"github.com/infer-prep/infer-prep/tensor"
)

// layouts is the folder of files of GDAL and tifffile whose windows package
// tiff compares with rasterio.
const layouts = "../../codec/tiff/testdata/"

// open opens a source whose rows can be read.
func open(t testing.TB, src *tiles.Tiles, s store.Opener) dataset.Rows {
	t.Helper()
	d, err := src.Open(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d.(dataset.Rows)
}

// TestWindows compares all windows of every layout with those of tiff.Reader.
func TestWindows(t *testing.T) {
	names, err := filepath.Glob(layouts + "*.tif")
	require.NoError(t, err)
	compared := 0
	for _, name := range names {
		file, err := os.Open(name)
		require.NoError(t, err)
		stat, err := file.Stat()
		require.NoError(t, err)
		r, err := tiff.NewReader(file, stat.Size(), nil)
		require.NoError(t, err)
		image, err := r.Image(0)
		require.NoError(t, err)
		info, err := image.Info()
		require.NoError(t, err)
		src := tiles.New(name)
		src.Size, src.Overlap = 24, 5
		if info.DType == tensor.Invalid {
			_, err := src.Open(t.Context(), store.Local)
			require.ErrorIs(t, err, dataset.ErrData)
			require.ErrorContains(t, err, "which tensors do not have")
			require.NoError(t, file.Close())
			continue
		}
		for _, edge := range []string{"pad", "shift", "drop"} {
			for _, bands := range [][]int{{}, {info.Bands - 1, 0, 0}} {
				src.Edge, src.Bands, src.CacheBytes = edge, bands, 20_000
				if edge == "drop" && min(info.Width, info.Height) < 24 {
					continue
				}
				d := open(t, src, store.Local)
				s := dataset.NewSample(d.Columns())
				for i := range d.Len() {
					require.NoError(t, d.Read(t.Context(), i, s))
					w := tensor.View[int32](&s.Column("window").Tensor)
					require.Equal(t, fmt.Sprintf("%s:%d:%d", name, w[1], w[0]), s.Key)
					region := codec.Region{Left: int(w[0]), Top: int(w[1]), Width: int(w[2]), Height: int(w[3])}
					if edge == "drop" {
						require.Equal(t, [2]int{24, 24}, [2]int{region.Width, region.Height})
					}
					want, err := image.Tensor(region)
					require.NoError(t, err)
					size := info.DType.Size()
					out := info.Bands
					if len(bands) > 0 {
						out = len(bands)
					}
					got := s.Column("image")
					require.Equal(t, tensor.Image(info.DType, tensor.HWC, 24, 24, out), got.Desc)
					for p := range region.Width * region.Height {
						y, x := p/region.Width, p%region.Width
						for k := range out {
							band := k
							if len(bands) > 0 {
								band = bands[k]
							}
							a, b := want.Data[(p*info.Bands+band)*size:][:size], got.Data[((y*24+x)*out+k)*size:][:size]
							if !bytes.Equal(a, b) {
								require.Equal(t, a, b, "%s: pixel (%d, %d), band %d", s.Key, x, y, k)
							}
						}
					}
					compared++
				}
			}
		}
		require.NoError(t, file.Close())
	}
	require.Greater(t, compared, 1000)
}

// TestSource checks the contract of a source.
func TestSource(t *testing.T) {
	for _, name := range []string{"u16_deflate_tiled.tif", "sparse_nodata.tif", "bits12.tif", "i16_planar_13.tif", "jpeg_420.tif"} {
		src := tiles.New(layouts + name)
		src.Size, src.Overlap, src.Mask, src.Edge = 32, 8, true, "shift"
		sourcetest.Run(t, src)
		src.CacheBytes = 0
		sourcetest.Run(t, src)
		// The key is one allocation, and a window of tiff.Image another.
		t.Log(name, sourcetest.Allocs(t, src), "allocations")
	}
	src := tiles.New("a", "b")
	src.Bands = []int{3, 1}
	sourcetest.Spec(t, src)
	sourcetest.Spec(t, tiles.New("a"))
	dir := t.TempDir()
	for i, name := range []string{"a.tif", "below/b.TIFF", "notes.txt"} {
		b, err := os.ReadFile(layouts + "u16_deflate_tiled.tif")
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), append(b, make([]byte, i)...), 0o666))
	}
	sourcetest.Store(t, dir, func(dir string) dataset.Source {
		src := tiles.New(dir)
		src.Size = 32
		return src
	})
	d := open(t, tiles.New(dir), store.Local)
	require.Equal(t, []int64{0, 1}, d.(dataset.Sharded).Shards())
}

// heap returns the bytes of the heap's objects.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// check compares a window with the scene.
func check(t *testing.T, p *procedural, s *dataset.Sample, size int) {
	t.Helper()
	w := tensor.View[int32](&s.Column("window").Tensor)
	got := s.Column("image").Data
	for y := 0; y < size; y += 13 {
		for x := range size {
			for b := range 3 {
				if v := p.at(int(w[0])+x, int(w[1])+y, b); v != got[(y*size+x)*3+b] {
					require.Equal(t, v, got[(y*size+x)*3+b], "%s: pixel (%d, %d), band %d", s.Key, x, y, b)
				}
			}
		}
	}
}

// TestLarge reads windows of a scene of 60,000 x 60,000 pixels: each reads its
// own tiles and no other, as in a scene of a hundredth of the pixels, and the
// heap stays small.
func TestLarge(t *testing.T) {
	const size, tile = 512, 256
	most := uint64(0)
	for side, windows := range map[int]int{6_000: 50, 60_000: 500} {
		p := scene(t, side, tile, false, nil)
		s := scenes{"s/a.tif": p}
		src := tiles.New("s")
		src.Overlap, src.CacheBytes = 448, 0
		d := open(t, src, s)
		_, n := p.take()
		require.Zero(t, n, "bytes of tiles that Open reads")
		x := dataset.NewSample(d.Columns())
		r := rand.New(rand.NewPCG(2, 3))
		for k := range short.Rounds(t, windows, 30) {
			require.NoError(t, d.Read(t.Context(), r.Int64N(d.Len()), x))
			w := tensor.View[int32](&x.Column("window").Tensor)
			want, bytes := map[int]int{}, 0
			for y := int(w[1]) / tile; y <= int(w[1]+w[3]-1)/tile; y++ {
				for c := int(w[0]) / tile; c <= int(w[0]+w[2]-1)/tile; c++ {
					want[y*p.across+c]++
					bytes += len(p.packed[(y*p.across+c)%variants])
				}
			}
			got, n := p.take()
			require.Equal(t, want, got, "tiles of %s", x.Key)
			require.Equal(t, bytes, n, "bytes of %s", x.Key)
			if k%10 == 0 {
				check(t, p, x, size)
			}
			most = max(most, heap())
		}

		// A part of a shuffled epoch, in parallel and with the cache.
		src = tiles.New("s")
		b, err := dataset.Build(t.Context(), dataset.From(src).Shuffle(), dataset.Options{Store: s, Seed: 5})
		require.NoError(t, err)
		require.Equal(t, int64((side+size-1)/size)*int64((side+size-1)/size), b.Len())
		one, err := pullpipe.New(b, nil)
		require.NoError(t, err)
		many, err := pipeline.New(b, pipeline.Options{Workers: 4}, nil)
		require.NoError(t, err)
		for range short.Rounds(t, 40, 10) {
			x, err := one.Next(t.Context())
			require.NoError(t, err)
			y, err := many.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, x.Key, y.Key)
			require.Equal(t, x.Column("image").Data, y.Column("image").Data)
			check(t, p, y, size)
			most = max(most, heap())
		}
		require.NoError(t, one.Close())
		require.NoError(t, many.Close())
		require.NoError(t, b.Close())
	}
	t.Logf("heap of at most %.1f MB", float64(most)/1e6)
	require.Less(t, most, uint64(200e6))
}

// TestShared checks that neighbours share the tiles of a cache, and that it
// holds no more than its limit.
func TestShared(t *testing.T) {
	p := scene(t, 640, 64, false, nil)
	s := scenes{"a.tif": p}
	src := tiles.New("a.tif")
	src.Size, src.Overlap = 64, 32
	for _, limit := range []int64{1 << 20, 40 * 64 * 64 * 3, 0} {
		src.CacheBytes = limit
		b, err := dataset.Build(t.Context(), dataset.From(src), dataset.Options{Store: s})
		require.NoError(t, err)
		run, err := pullpipe.New(b, nil)
		require.NoError(t, err)
		for x, err := range run.All(t.Context()) {
			require.NoError(t, err)
			check(t, p, x, 64)
		}
		require.NoError(t, run.Close())
		read := 0
		got, _ := p.take()
		require.Len(t, got, 100)
		for _, n := range got {
			read += n
		}
		want := 100
		if limit == 0 { // of 19 x 19 windows, 9 along a side need two tiles
			want = (10 + 2*9) * (10 + 2*9)
		}
		require.Equal(t, want, read, "tiles read with a cache of %d bytes", limit)

		// Several goroutines give the same windows.
		many, err := pipeline.New(b, pipeline.Options{Workers: 4}, nil)
		require.NoError(t, err)
		for x, err := range many.All(t.Context()) {
			require.NoError(t, err)
			check(t, p, x, 64)
		}
		require.NoError(t, many.Close())
		require.NoError(t, b.Close())
		p.take()
	}
}

// TestHTTP reads windows through a server: it sends only the blocks of 64 KiB
// that have bytes of the tiles.
func TestHTTP(t *testing.T) {
	const block = 64 << 10
	p := scene(t, 60_000, 256, false, nil)
	p.open = 1
	// The store may read ahead after the directory. Bytes from the second row
	// of tiles on are counted apart.
	second := int64(len(p.head)) + p.start(p.across)
	var head, sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var from int64
		_, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
		n := &head
		if err == nil && from >= second {
			n = &sent
		}
		http.ServeContent(counter{w, n}, r, "", time.Unix(1e9, 0), io.NewSectionReader(p, 0, p.Size()))
	}))
	t.Cleanup(server.Close)
	s := httpstore.New(remote.Options{})
	// The store requests its first file as a whole, until it is not read in
	// order.
	d := open(t, tiles.New(server.URL+"/first.tif"), s)
	x := dataset.NewSample(d.Columns())
	require.NoError(t, d.Read(t.Context(), d.Len()/2, x))

	src := tiles.New(server.URL + "/a.tif")
	src.Overlap = 448
	d = open(t, src, s)
	sent.Store(0)
	r := rand.New(rand.NewPCG(2, 3))
	blocks, needed := map[int64]bool{}, 0
	for range 20 {
		require.NoError(t, d.Read(t.Context(), d.Len()-1-r.Int64N(d.Len()-d.Len()/10), x))
		check(t, p, x, 512)
		w := tensor.View[int32](&x.Column("window").Tensor)
		for y := int(w[1]) / 256; y <= int(w[1]+w[3]-1)/256; y++ {
			for c := int(w[0]) / 256; c <= int(w[0]+w[2]-1)/256; c++ {
				n := y*p.across + c
				at := int64(len(p.head)) + p.start(n)
				needed += len(p.packed[n%variants])
				for b := at / block; b <= (at+int64(len(p.packed[n%variants]))-1)/block; b++ {
					blocks[b] = true
				}
			}
		}
	}
	t.Logf("%d bytes of tiles, %d blocks of 64 KiB, %d bytes sent; up to %d bytes to open two scenes", needed, len(blocks), sent.Load(), head.Load())
	require.Equal(t, int64(len(blocks))*block, sent.Load())
}

// counter counts the bytes of bodies.
type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// TestRanks reads every window of several scenes once, on three ranks, each
// resumed in the middle.
func TestRanks(t *testing.T) {
	s := scenes{"s/a.tif": scene(t, 100, 16, false, nil), "s/b.tif": scene(t, 60, 16, false, nil), "s/c.tif": scene(t, 33, 16, false, nil)}
	src := tiles.New("s/")
	src.Size, src.Overlap, src.Edge = 20, 4, "shift"
	def := dataset.From(src).Shuffle()
	want := map[string]int{}
	for i := range s {
		side := s[i].side
		for y := range (side-20+15)/16 + 1 {
			for x := range (side-20+15)/16 + 1 {
				want[fmt.Sprintf("%s:%d:%d", i, min(16*y, side-20), min(16*x, side-20))]++
			}
		}
	}
	got := map[string]int{}
	var order []string
	const world = 3
	for rank := range world {
		b, err := dataset.Build(t.Context(), def, dataset.Options{Store: s, Seed: 7, Rank: rank, World: world, DropUneven: true})
		require.NoError(t, err)
		run, err := pipeline.New(b, pipeline.Options{Workers: 3}, nil)
		require.NoError(t, err)
		for range 5 {
			x, err := run.Next(t.Context())
			require.NoError(t, err)
			got[x.Key]++
			order = append(order, x.Key)
		}
		state := run.State()
		require.NoError(t, run.Close())
		again, err := pullpipe.New(b, state)
		require.NoError(t, err)
		for x, err := range again.All(t.Context()) {
			require.NoError(t, err)
			got[x.Key]++
		}
		require.NoError(t, again.Close())
		require.NoError(t, b.Close())
	}
	for key, n := range got {
		require.Equal(t, 1, n, key)
		require.Equal(t, 1, want[key], key)
	}
	require.Len(t, got, len(want)/world*world)
	names := map[string]bool{}
	for _, key := range order {
		names[strings.Split(key, ":")[0]] = true
	}
	require.Len(t, names, 3, "the first windows are of all scenes: %v", order)
}

// TestSkip leaves out windows of missing tiles, and those without data.
func TestSkip(t *testing.T) {
	p := scene(t, 8*16, 16, true, func(n int) bool { return n%5 == 0 })
	s := scenes{"a.tif": p}
	for _, size := range []int{16, 8, 24} {
		for _, skip := range []string{"none", "missing", "nodata"} {
			src := tiles.New("a.tif")
			src.Size, src.Skip, src.Mask = size, skip, true
			d := open(t, src, s)
			rows := map[string]bool{}
			x := dataset.NewSample(d.Columns())
			for i := range d.Len() {
				require.NoError(t, d.Read(t.Context(), i, x))
				rows[x.Key] = true
				w := tensor.View[int32](&x.Column("window").Tensor)
				for k, v := range x.Column("mask").Data {
					a, b := int(w[0])+k%size, int(w[1])+k/size
					require.Equal(t, p.at(a, b, 0) != p.noData, v == 255, "mask at (%d, %d)", a, b)
				}
				check(t, p, x, size)
			}
			for top := 0; top < p.side; top += size {
				for left := 0; left < p.side; left += size {
					keep := skip == "none"
					for y := top; y < min(top+size, p.side); y++ {
						for x := left; x < min(left+size, p.side); x++ {
							n := y/16*8 + x/16
							keep = keep || skip == "missing" && n%5 != 0 || skip == "nodata" && p.at(x, y, 0) != p.noData
						}
					}
					require.Equal(t, keep, rows[fmt.Sprintf("a.tif:%d:%d", top, left)], "skip %s, size %d: window at (%d, %d)", skip, size, left, top)
				}
			}
		}
	}
}

// digest returns the first digits of the SHA-256 of samples of a size in bytes,
// in little-endian order.
func digest(b []byte, size int) string {
	b = bytes.Clone(b)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		for i := 0; i < len(b); i += size {
			slices.Reverse(b[i : i+size])
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:16]
}

// inside returns the pixels of a column that are within the scene.
func inside(s *dataset.Sample, column string) []byte {
	v, w := s.Column(column), tensor.View[int32](&s.Column("window").Tensor)
	line := len(v.Data) / v.Shape.At(0)
	var l []byte
	for y := range int(w[3]) {
		l = append(l, v.Data[y*line:][:line/v.Shape.At(1)*int(w[2])]...)
	}
	return l
}

// TestRasterio compares pixels, geotransforms, masks and chosen bands with what
// rasterio reads (testdata/gen/datasets/tiles.py).
func TestRasterio(t *testing.T) {
	b, err := os.ReadFile("testdata/rasterio.json")
	require.NoError(t, err)
	var golden map[string][][]any
	require.NoError(t, json.Unmarshal(b, &golden))
	for name, want := range golden {
		src := tiles.New(layouts + name)
		src.Size, src.Overlap, src.Mask = 24, 5, true
		d := open(t, src, store.Local)
		require.Len(t, want, int(d.Len()), name)
		s := dataset.NewSample(d.Columns())
		require.NoError(t, d.Read(t.Context(), 0, s))
		bands := s.Column("image").Shape.At(2)
		src.Bands = []int{bands - 1, 0}
		chosen := open(t, src, store.Local)
		for i, w := range want {
			require.NoError(t, d.Read(t.Context(), int64(i), s))
			window, transform := tensor.View[int32](&s.Column("window").Tensor), tensor.View[float64](&s.Column("transform").Tensor)
			for k := range window {
				require.Equal(t, int(w[k].(float64)), int(window[k]), "%s %d: window", name, i)
			}
			for k := range transform {
				require.Equal(t, w[4].([]any)[k], transform[k], "%s %d: transform", name, i)
			}
			size := s.Column("image").DType.Size()
			require.Equal(t, w[5], digest(inside(s, "image"), size), "%s %d", name, i)
			require.Equal(t, w[6], digest(inside(s, "mask"), 1), "%s %d: mask", name, i)
			require.NoError(t, chosen.Read(t.Context(), int64(i), s))
			require.Equal(t, w[7], digest(inside(s, "image"), size), "%s %d: bands", name, i)
		}
	}
}

// TestErrors opens and reads what is invalid.
func TestErrors(t *testing.T) {
	for want, change := range map[string]func(*tiles.Tiles){
		"no files, want 1 or more":       func(o *tiles.Tiles) { o.Files = nil },
		"size 0: want 1 to":              func(o *tiles.Tiles) { o.Size = 0 },
		"size 10001, want 1 to 10000":    func(o *tiles.Tiles) { o.Size = 10_001 },
		"overlap 512: want 0 to 511":     func(o *tiles.Tiles) { o.Overlap = 512 },
		"overlap -1: want 0 to 511":      func(o *tiles.Tiles) { o.Overlap = -1 },
		`unknown edge "shfit"`:           func(o *tiles.Tiles) { o.Edge = "shfit" },
		`did you mean "missing"?`:        func(o *tiles.Tiles) { o.Skip = "mising" },
		"band -1, want 0 to 63":          func(o *tiles.Tiles) { o.Bands = []int{-1} },
		"65 bands, want at most 64":      func(o *tiles.Tiles) { o.Bands = make([]int, 65) },
		"cache_bytes -1, want 0 to 1099": func(o *tiles.Tiles) { o.CacheBytes = -1 },
	} {
		src := tiles.New("a.tif")
		change(src)
		err := src.Validate()
		require.ErrorIs(t, err, dataset.ErrParam)
		require.ErrorContains(t, err, want)
		_, err = src.Open(t.Context(), scenes{})
		require.ErrorContains(t, err, "tiles: ")
		require.ErrorIs(t, err, dataset.ErrParam)
	}
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.tif")
	require.NoError(t, os.WriteFile(bad, []byte("no TIFF at all"), 0o666))
	empty := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(empty, "a.txt"), []byte("text"), 0o666))
	for want, src := range map[string]*tiles.Tiles{
		"bad.tif: ": tiles.New(dir),
		"has no file with the extension .tif or .tiff": tiles.New(empty),
		"file does not exist|no such file":             tiles.New(filepath.Join(dir, "none.tif")),
		"want the same in all scenes":                  tiles.New(layouts+"u16_deflate_tiled.tif", layouts+"f16.tif"),
		`no windows of 512 pixels with edge "drop"`:    {Files: []string{layouts + "f16.tif"}, Size: 512, Edge: "drop", Skip: "none"},
		"band 50 of a scene with":                      {Files: []string{layouts + "f16.tif"}, Size: 512, Edge: "pad", Skip: "none", Bands: []int{50}},
	} {
		d, err := src.Open(t.Context(), store.Local)
		require.Error(t, err, "%v", d)
		require.ErrorIs(t, err, dataset.ErrData)
		require.Regexp(t, want, err.Error())
	}

	// A damaged tile is an error of its windows, with the scene and the place.
	p := scene(t, 64, 16, false, nil)
	p.packed[3] = append([]byte{0x78, 0x9c, 0xff}, p.packed[3][3:]...)
	src := tiles.New("a.tif")
	src.Size = 16
	d := open(t, src, scenes{"a.tif": p})
	x := dataset.NewSample(d.Columns())
	for i := range d.Len() {
		err := d.Read(t.Context(), i, x)
		if i%variants != 3 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, fmt.Sprintf("tiles: %v: a.tif:%d:%d: tiff", dataset.ErrData, i/4*16, i%4*16))
	}
}
