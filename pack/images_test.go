package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const testImages = "../testdata/images"

// golden is the output of testdata/gen/records/im2rec.py.
type golden struct {
	Tree  []string
	Lists []struct {
		Args  []string
		Files map[string]string
	}
	Pixels, JPEG []struct {
		Every   int
		Args    []string
		Records map[string]string
	}
	PassThrough []struct {
		Args     []string
		Rec, Idx string
	} `json:"pass_through"`
}

func readGolden(t *testing.T) (g golden) {
	b, err := os.ReadFile("../testdata/im2rec/golden.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	return g
}

// values returns the numbers after a flag, and whether the flag is present.
func values(t *testing.T, args []string, flag string) (l []string, ok bool) {
	i := slices.Index(args, flag)
	if i < 0 {
		return nil, false
	}
	for _, a := range args[i+1:] {
		if strings.HasPrefix(a, "--") {
			break
		}
		l = append(l, a)
	}
	return l, true
}

func number(t *testing.T, args []string, flag string, otherwise float64) float64 {
	l, ok := values(t, args, flag)
	if !ok {
		return otherwise
	}
	v, err := strconv.ParseFloat(l[0], 64)
	require.NoError(t, err)
	return v
}

func text(items []imagerecord.Item) string {
	var b []byte
	for i := range items {
		b = items[i].Append(b)
	}
	return string(b)
}

func TestLists(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the tree has names that this system's file system changes, or takes for one")
	}
	g := readGolden(t)
	root := t.TempDir()
	for _, f := range g.Tree {
		path := filepath.Join(root, filepath.FromSlash(f))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, nil, 0o666))
	}
	all := 0
	for _, c := range g.Lists {
		o := ListOptions{Seed: 100}
		_, o.Recursive = values(t, c.Args, "--recursive")
		_, o.NoShuffle = values(t, c.Args, "--no-shuffle")
		o.Exts, _ = values(t, c.Args, "--exts")
		o.Chunks = int(number(t, c.Args, "--chunks", 0))
		o.TrainRatio, o.TestRatio = number(t, c.Args, "--train-ratio", 1), number(t, c.Args, "--test-ratio", 0)
		lists, labels, left, err := Lists(t.Context(), store.Local, root, o)
		require.NoError(t, err)
		require.Len(t, lists, len(c.Files), "%q", c.Args)
		n := left
		for _, l := range lists {
			want, ok := c.Files["x"+l.Suffix+".lst"]
			require.True(t, ok, "%q: %s", c.Args, l.Suffix)
			require.Equal(t, want, text(l.Items), "%q: %s", c.Args, l.Suffix)
			n += len(l.Items)
			all++
		}
		if o.Exts == nil && o.Recursive {
			require.Equal(t, 56, n)
			require.Equal(t, []string{".", "Z", "a", "a/.hidden", "a/x", "a/y", "a.b", "b", "c d"}, labels)
		}
	}
	require.Equal(t, 59, all)
}

func TestListsMore(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"a.jpg", "b/c.jpg", "b/d/e.jpg"} {
		path := filepath.Join(root, filepath.FromSlash(f))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, nil, 0o666))
	}
	o := ListOptions{Recursive: true, NoShuffle: true, TrainRatio: 1}
	want := "0\t0.000000\ta.jpg\n1\t1.000000\tb/c.jpg\n2\t2.000000\tb/d/e.jpg\n"
	lists, _, _, err := Lists(t.Context(), store.Local, root, o)
	require.NoError(t, err)
	require.Equal(t, want, text(lists[0].Items))
	if os.Symlink(root, filepath.Join(root, "b", "up")) == nil { // a cycle; im2rec loops in it
		require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "x.jpg")))
		require.NoError(t, os.Symlink(filepath.Join(root, "b", "d"), filepath.Join(root, "link")))
		lists, _, _, err = Lists(t.Context(), store.Local, root, o)
		require.NoError(t, err)
		require.Equal(t, want+"3\t3.000000\tlink/e.jpg\n", text(lists[0].Items))
	}

	// Seeds, as Python shuffles [0, 1, …, 9].
	for seed, want := range map[uint64][]int{
		0:                    {7, 8, 1, 5, 3, 4, 2, 0, 9, 6},
		100:                  {4, 0, 5, 9, 3, 1, 6, 8, 7, 2},
		1 << 40:              {7, 8, 2, 4, 6, 0, 3, 9, 5, 1},
		18446744073709551615: {2, 6, 7, 9, 8, 1, 4, 5, 3, 0},
	} {
		l := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		newPyRandom(seed).shuffle(10, func(i, j int) { l[i], l[j] = l[j], l[i] })
		require.Equal(t, want, l, "%d", seed)
	}

	for _, o := range []ListOptions{{Chunks: -1}, {TrainRatio: -1}, {TrainRatio: 0.5, TestRatio: 0.6}} {
		_, _, _, err := Lists(t.Context(), store.Local, root, o)
		require.ErrorContains(t, err, "want at least 1 chunk, and ratios from 0 to 1 with a sum of at most 1")
	}
	_, _, _, err = Lists(t.Context(), store.Local, filepath.Join(root, "none"), o)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, _, _, err = Lists(t.Context(), store.Local, filepath.Join(root, "a.jpg"), o)
	require.ErrorContains(t, err, "a.jpg")
	if os.WriteFile(filepath.Join(root, "t\tb.jpg"), nil, 0o666) == nil {
		_, _, _, err = Lists(t.Context(), store.Local, root, o)
		require.ErrorContains(t, err, `t\tb.jpg": a list cannot hold this name`)
	}
}

// otherwise describes what im2rec packs for files that we decode differently or
// not at all.
var otherwise = map[string]string{
	"jpeg_cmyk": "OpenCV's own conversion of CMYK", "jpeg_ycck": "likewise", "jpeg_lossless_cmyk": "likewise",
	"jpeg_exif_byte": "an orientation of another type than SHORT is none here", "jpeg_exif_rational": "likewise, in OpenCV",
	"jpeg_xmp": "OpenCV does not look into XMP", "png_xmp": "likewise",
	"png_raw_exif": "OpenCV does not read EXIF in ImageMagick's form", "png_apng_exif_behind": "Pillow does not read EXIF behind the first frame",
	"jpeg_lossless_gray": "OpenCV does not decode it", "jpeg_tables_first": "likewise",
	"png_p2_twice": "OpenCV takes the first of two chunks",
	"png_rgb16":    "gray: OpenCV converts 16 bits", "png_rgba16": "likewise",
}

// goldenPack packs images of testImages as a case of the golden does, and
// returns the records by the names of their files.
func goldenPack(t *testing.T, every int, args []string, o ImageOptions) map[string]imagerecord.Record {
	p := &RecordIO{Root: testImages, Image: o, OnError: SkipOnError, Workers: 2}
	_, p.PackLabels = values(t, args, "--pack-label")
	_, p.Image.CenterCrop = values(t, args, "--center-crop")
	p.Image.Resize = int(number(t, args, "--resize", 0))
	p.Image.Color = map[float64]Color{1: RGB, 0: Gray, -1: Unchanged}[number(t, args, "--color", 1)]
	var names []string
	l, err := os.ReadDir(testImages)
	require.NoError(t, err)
	for _, e := range l {
		if strings.HasSuffix(e.Name(), ".jpg") || strings.HasSuffix(e.Name(), ".png") {
			names = append(names, e.Name())
		}
	}
	out := RecordIOOutput{Name: filepath.Join(t.TempDir(), "x"), Items: goldenItems(names, every)}
	p.Outputs = []RecordIOOutput{out}
	_, err = p.Run(t.Context())
	require.NoError(t, err)
	got := map[string]imagerecord.Record{}
	for _, r := range readRecords(t, out.Name) {
		require.NotEmpty(t, r.Content)
		got[names[int(r.ID)/3*every]] = r
	}
	return got
}

// isKnown reports whether otherwise has the image. deep is whether images of 16
// bits differ.
func isKnown(name string, deep bool) bool {
	for k := range otherwise {
		if strings.HasPrefix(name, k) && (!strings.Contains(k, "16") || deep) {
			return true
		}
	}
	return false
}

// TestPixels compares heads and pixels of packed images with im2rec's.
func TestPixels(t *testing.T) {
	equal, other := 0, 0
	for _, c := range readGolden(t).Pixels {
		got := goldenPack(t, c.Every, c.Args, ImageOptions{Encoding: PNG, Quality: 1})
		for name, want := range c.Records {
			sum := ""
			if r, ok := got[name]; ok {
				m, err := codec.Decode(r.Content, &codec.Options{Color: pngColor(r.Content)})
				require.NoError(t, err)
				h := sha256.New()
				fmt.Fprintf(h, "%d %d %d ", m.Height(), m.Width(), m.Channels())
				h.Write(m.Data)
				r.Content = nil
				sum = fmt.Sprintf("%x %x", r.Append(nil), h.Sum(nil)[:8])
			}
			if want == sum {
				equal++
				continue
			}
			require.True(t, isKnown(name, number(t, c.Args, "--color", 1) == 0), "%q: %s: want %s, got %s", c.Args, name, want, sum)
			other++
		}
	}
	t.Logf("%d images as im2rec packs them, %d are known to differ", equal, other)
	require.Equal(t, 649, equal)
	require.Equal(t, 36, other)
}

// TestRecords compares whole records with im2rec's, with JPEG files.
func TestRecords(t *testing.T) {
	equal, other := 0, 0
	for _, c := range readGolden(t).JPEG {
		got := goldenPack(t, c.Every, c.Args, ImageOptions{Quality: int(number(t, c.Args, "--quality", 0))})
		for name, want := range c.Records {
			r := got[name]
			sum := sha256.Sum256(r.Append(nil))
			if want == hex.EncodeToString(sum[:8]) {
				equal++
				continue
			}
			require.True(t, isKnown(name, number(t, c.Args, "--color", 1) < 1), "%q: %s", c.Args, name)
			other++
		}
	}
	t.Logf("%d records as im2rec packs them, %d are known to differ", equal, other)
	require.Equal(t, 385, equal)
	require.Equal(t, 19, other)
}

// pngColor returns the layout of a PNG file.
func pngColor(b []byte) codec.Color {
	return map[byte]codec.Color{0: codec.ToGray, 2: codec.ToRGB, 6: codec.ToRGBA}[b[25]]
}

// goldenItems returns the list that im2rec.py makes of every n-th name.
func goldenItems(names []string, every int) (l []imagerecord.Item) {
	for i := 0; i*every < len(names); i++ {
		item := imagerecord.Item{Index: uint64(3 * i), Labels: []float32{float32(i % 7)}, Path: names[i*every]}
		if i%4 == 0 {
			item.Labels = []float32{float32(i) / 2, -1.5, 3.25}
		}
		l = append(l, item)
	}
	return l
}

// readRecords reads a file of records by its index.
func readRecords(t testing.TB, name string) (l []imagerecord.Record) {
	b, err := os.ReadFile(name + ".rec")
	require.NoError(t, err)
	index, err := os.ReadFile(name + ".idx")
	require.NoError(t, err)
	r := recordio.NewBytes(b, recordio.Options{Name: name})
	var want []byte
	for {
		record, err := r.Next()
		if err != nil {
			break
		}
		var i imagerecord.Record
		require.NoError(t, i.Parse(bytes.Clone(record)))
		want, _ = recordio.Entry{Key: int64(i.ID), Offset: r.Offset()}.AppendText(want)
		l = append(l, i)
	}
	require.Equal(t, string(want), string(index))
	require.Equal(t, int64(len(b)), r.End())
	return l
}

func TestPassThrough(t *testing.T) {
	l, err := os.ReadDir(testImages)
	require.NoError(t, err)
	var names []string
	for _, e := range l {
		names = append(names, e.Name())
	}
	for _, c := range readGolden(t).PassThrough {
		p := &RecordIO{Root: testImages, Image: ImageOptions{Encoding: PassThrough}, Workers: 3}
		_, p.PackLabels = values(t, c.Args, "--pack-label")
		name := filepath.Join(t.TempDir(), "x")
		p.Outputs = []RecordIOOutput{{Name: name, Items: goldenItems(names, 9)}}
		_, err := p.Run(t.Context())
		require.NoError(t, err)
		for ext, want := range map[string]string{".rec": c.Rec, ".idx": c.Idx} {
			b, err := os.ReadFile(name + ext)
			require.NoError(t, err)
			sum := sha256.Sum256(b)
			require.Equal(t, want, hex.EncodeToString(sum[:]), ext)
		}
	}
}

// TestFast: rewritten files keep their pixels, and other files their bytes.
func TestFast(t *testing.T) {
	l, err := os.ReadDir(testImages)
	require.NoError(t, err)
	var names []string
	for _, e := range l {
		names = append(names, e.Name())
	}
	name := filepath.Join(t.TempDir(), "x")
	items := goldenItems(names, 9)
	p := &RecordIO{Root: testImages, Image: ImageOptions{Encoding: PassThrough, Fast: true}, Outputs: []RecordIOOutput{{Name: name, Items: items}}}
	_, err = p.Run(t.Context())
	require.NoError(t, err)
	rewritten := 0
	for i, r := range readRecords(t, name) {
		b, err := os.ReadFile(filepath.Join(testImages, items[i].Path))
		require.NoError(t, err)
		if bytes.Equal(b, r.Content) {
			continue
		}
		rewritten++
		before, err := codec.Decode(b, nil)
		require.NoError(t, err, items[i].Path)
		after, err := codec.Decode(r.Content, nil)
		require.NoError(t, err, items[i].Path)
		require.Equal(t, before, after, items[i].Path)
		require.True(t, strings.HasPrefix(items[i].Path, "jpeg_"), items[i].Path)
	}
	require.Greater(t, rewritten, 8)
	require.Error(t, (&ImageOptions{Fast: true}).fill())
}

// drawn returns an image of edges, slopes and noise.
func drawn(t testing.TB, h, w, channels int) *tensor.Tensor {
	m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, channels))
	require.NoError(t, err)
	s := uint32(h*w + channels)
	for i := range m.Data {
		x, y, k := i/channels%w, i/channels/w, i%channels
		s = s*1664525 + 1013904223
		m.Data[i] = byte(x*(k+1) + 3*y + (x/16*(y/16))*40 + int(s>>28)*(x&y&1))
	}
	return m
}

// TestPNG checks that image/png reads the files, and that their bytes are the
// same on every platform.
func TestPNG(t *testing.T) {
	all := sha256.New()
	var p pngWriter
	for _, s := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {33, 47}, {160, 120}} {
		for _, channels := range []int{1, 3, 4} {
			m := drawn(t, s[0], s[1], channels)
			for _, level := range []int{1, 3, 9} {
				b, err := p.encode([]byte("x"), m, level)
				require.NoError(t, err)
				require.Equal(t, "x", string(b[:1]))
				fmt.Fprintf(all, "%d ", len(b))
				all.Write(b)
				got, err := png.Decode(bytes.NewReader(b[1:]))
				require.NoError(t, err)
				var pixels []byte
				switch i := got.(type) {
				case *image.Gray:
					pixels = i.Pix
				case *image.NRGBA:
					pixels = i.Pix
				case *image.RGBA: // opaque
					for k, v := range i.Pix {
						if k%4 < 3 {
							pixels = append(pixels, v)
						}
					}
				}
				require.Equal(t, m.Data, pixels, "%v", m.Desc)
			}
		}
	}
	require.Equal(t, "c30136b6bd1a53e0aa275fd7b23c1d2dc758d3256d6b01f310bfe894e02b2548", fmt.Sprintf("%x", all.Sum(nil)))
	_, err := p.encode(nil, drawn(t, 2, 2, 5), 1)
	require.ErrorContains(t, err, "want 1 to 4 channels")
	_, err = p.encode(nil, drawn(t, 2, 2, 3), 77)
	require.Error(t, err)
}

func BenchmarkPNG(b *testing.B) {
	m := drawn(b, 256, 341, 3)
	var p pngWriter
	for b.Loop() {
		_, err := p.encode(nil, m, 3)
		require.NoError(b, err)
	}
}
