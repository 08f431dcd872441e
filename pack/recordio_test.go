package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// photos creates n small PNG files in a new folder and returns their items.
// Every 11th file is damaged.
func photos(t testing.TB, n int) (root string, items []imagerecord.Item) {
	root = t.TempDir()
	var p pngWriter
	for i := range n {
		b, err := p.encode(nil, drawn(t, 4+i%5, 3+i%7, 3), 1)
		require.NoError(t, err)
		if i%11 == 10 {
			b = b[:len(b)/2]
		}
		name := fmt.Sprintf("%d.png", i)
		require.NoError(t, os.WriteFile(filepath.Join(root, name), b, 0o666))
		items = append(items, imagerecord.Item{Index: uint64(i), Labels: []float32{float32(i), 1}, Path: name})
	}
	return root, items
}

// small returns a pack of two lists that records its state often.
func small(root string, items []imagerecord.Item, dir string) *RecordIO {
	k := len(items) * 2 / 3
	return &RecordIO{
		Root: root, Journal: filepath.Join(dir, "p.rec.pack"), Image: ImageOptions{Encoding: PNG, Quality: 1, Resize: 3}, Workers: 2, OnError: SkipOnError, Sums: true,
		Outputs: []RecordIOOutput{
			{filepath.Join(dir, "p_train"), "train.lst", items[:k]},
			{filepath.Join(dir, "p_val"), "val.lst", items[k:]},
		},
		noteItems: 5, buffer: 300,
	}
}

// contents returns the files of a folder.
func contents(t testing.TB, dir string) map[string]string {
	m := map[string]string{}
	l, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range l {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		m[e.Name()] = string(b)
	}
	return m
}

// same compares folders without printing their files.
func same(t testing.TB, want, got map[string]string, what string, args ...any) {
	t.Helper()
	what = fmt.Sprintf(what, args...)
	for name, w := range want {
		g, ok := got[name]
		require.True(t, ok, "%s: %s is missing", what, name)
		if w != g {
			i := 0
			for i < min(len(w), len(g)) && w[i] == g[i] {
				i++
			}
			require.Fail(t, what, "%s: %d bytes, want %d; the first difference is at %d", name, len(g), len(w), i)
		}
	}
	require.Len(t, got, len(want), what)
}

func TestRecordIO(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	root, items := photos(t, 60)
	var want map[string]string
	for _, jobs := range []int{1, 2, 7} {
		dir := filepath.Join(t.TempDir(), "new")
		p := small(root, items, dir)
		p.Workers = jobs
		var bad []string
		p.OnSkip = func(e *ItemError) {
			require.Error(t, e.Unwrap())
			bad = append(bad, strings.SplitN(e.Error(), ": png", 2)[0])
		}
		done := -1
		p.Progress = func(n, _ int) {
			require.GreaterOrEqual(t, n, done)
			done = n
		}
		s, err := p.Run(t.Context())
		require.NoError(t, err)
		got := contents(t, dir)
		require.Equal(t, &RecordIOReport{Items: 60, Records: 55, Skipped: 5, Bytes: int64(len(got["p_train.rec"]) + len(got["p_val.rec"]))}, s)
		require.Equal(t, 60, done)
		require.Equal(t, []string{
			"train.lst: item 11: 10.png", "train.lst: item 22: 21.png", "train.lst: item 33: 32.png",
			"val.lst: item 4: 43.png", "val.lst: item 15: 54.png",
		}, bad)
		if want == nil {
			want = got
		}
		same(t, want, got, "%d jobs", jobs)
		require.Len(t, got, 6)
		l := readRecords(t, filepath.Join(dir, "p_val"))
		require.Len(t, l, 18)
		require.Equal(t, []float32{40}, l[0].Labels)

		list, err := store.Files(t.Context(), store.Local, []string{filepath.Join(dir, "p_val.rec")}, false)
		require.NoError(t, err)
		files, err := recordio.NewStream(t.Context(), store.Local, list, 4)
		require.NoError(t, err)
		sums, err := recordio.ReadSums("", strings.NewReader(got["p_val.rec.sums"]))
		require.NoError(t, err)
		actual, err := files.Sums(recordio.Options{})
		require.NoError(t, err)
		require.Equal(t, actual, sums)
		require.NoError(t, files.Close())
	}
}

// TestFail checks that a damaged image ends the pack, and that the pack resumes
// when the image is repaired.
func TestFail(t *testing.T) {
	root, items := photos(t, 30)
	dir := t.TempDir()
	whole, err := os.ReadFile(filepath.Join(root, "9.png"))
	require.NoError(t, err)
	p := small(root, items, dir)
	p.OnError = FailOnError
	var skipped []int
	p.OnSkip = func(e *ItemError) { skipped = append(skipped, e.Item) }
	s, err := p.Run(t.Context())
	var bad *ItemError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, 10, bad.Item)
	require.ErrorIs(t, err, codec.ErrFormat)
	require.Equal(t, 10, s.Items)
	require.NoFileExists(t, filepath.Join(dir, "p_train.rec"))
	require.NoError(t, os.WriteFile(filepath.Join(root, "10.png"), whole, 0o666))
	s, err = p.Run(t.Context())
	require.ErrorAs(t, err, &bad)
	require.Equal(t, 1, bad.Item)
	require.Equal(t, "val.lst", bad.List)
	require.Equal(t, 21, s.Items)
	require.Equal(t, 10, s.Resumed)
	require.Empty(t, skipped)
	p.OnError = SkipOnError // finished items stay
	s, err = p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1}, skipped)
	require.Equal(t, &RecordIOReport{Items: 30, Records: 29, Skipped: 1, Resumed: 21, Bytes: s.Bytes}, s)
	got := contents(t, dir)
	dir = t.TempDir()
	_, err = small(root, items, dir).Run(t.Context())
	require.NoError(t, err)
	same(t, contents(t, dir), got, "repaired")
}

// errStop stands for the end of the process.
var errStop = errors.New("stop")

// stopAt ends a pack at its n-th point and counts the points.
func stopAt(p *RecordIO, n int) *int {
	at := 0
	p.test = func(string) error {
		if at++; at > n {
			return errStop
		}
		return nil
	}
	return &at
}

// countPoints returns the number of points of a small pack.
func countPoints(t *testing.T, root string, items []imagerecord.Item) int {
	p := small(root, items, t.TempDir())
	n := stopAt(p, 1<<30)
	_, err := p.Run(t.Context())
	require.NoError(t, err)
	return *n
}

// TestStopped ends packs at every point: writes, journal states and renames.
// The next run resumes, and the files are those of one run.
func TestStopped(t *testing.T) {
	root, items := photos(t, 25)
	step := short.Step(t, 4)
	for _, force := range []bool{false, true} {
		dir := t.TempDir()
		_, err := small(root, items, dir).Run(t.Context())
		require.NoError(t, err)
		want := contents(t, dir)
		count := countPoints(t, root, items)
		require.Greater(t, count, 30)
		for n := 0; n < count; n += step {
			dir := t.TempDir()
			p := small(root, items, dir)
			if p.Force = force; force {
				for name := range want {
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o666))
				}
			}
			stopAt(p, n)
			_, err := p.Run(t.Context())
			require.ErrorIs(t, err, errStop, n)
			for name, b := range contents(t, dir) {
				if filepath.Ext(name) != ".part" && name != "p.rec.pack" && b != "old" {
					require.True(t, b == want[name], "stopped at %d: half of %s has its name", n, name)
				}
			}
			for _, out := range p.Outputs { // the files of two packs never mix
				old, _ := os.ReadFile(out.Name + ".rec")
				idx, err := os.ReadFile(out.Name + ".idx")
				require.True(t, err != nil || string(old) == "old" == (string(idx) == "old"), n)
			}
			p.test = nil
			s, err := p.Run(t.Context())
			require.NoError(t, err, n)
			require.Equal(t, 25, s.Items)
			same(t, want, contents(t, dir), "stopped at %d (force %v)", n, force)
		}
	}
}

// TestDamaged damages unfinished files in all ways. The pack resumes at the
// last intact state.
func TestDamaged(t *testing.T) {
	root, items := photos(t, 30)
	dir := t.TempDir()
	p := small(root, items, dir)
	_, err := p.Run(t.Context())
	require.NoError(t, err)
	want := contents(t, dir)
	r := rand.New(rand.NewPCG(7, 7))
	points := countPoints(t, root, items)
	resumed := map[int]int{}
	for n := range short.Rounds(t, 60, 15) {
		dir := t.TempDir()
		p := small(root, items, dir)
		stopAt(p, 5+r.IntN(points-5))
		_, err := p.Run(t.Context())
		require.ErrorIs(t, err, errStop)
		var what []string
		for range 1 + r.IntN(2) {
			l, err := os.ReadDir(dir)
			require.NoError(t, err)
			name := l[r.IntN(len(l))].Name()
			if filepath.Ext(name) != ".part" && name != "p.rec.pack" {
				continue // finished: see below
			}
			path := filepath.Join(dir, name)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			k := 0
			if len(b) > 0 {
				k = r.IntN(len(b))
			}
			switch r.IntN(4) {
			case 0:
				err = os.WriteFile(path, b[:k], 0o666)
			case 1:
				if len(b) > 0 && name != "p.rec.pack" { // the first line of the journal is the digest
					b[k] ^= 1 << r.IntN(8)
				}
				err = os.WriteFile(path, b, 0o666)
			case 2:
				err = os.WriteFile(path, append(b, "more"...), 0o666)
			case 3:
				if strings.HasSuffix(name, ".part") {
					err = os.Remove(path)
				}
			}
			require.NoError(t, err)
			what = append(what, fmt.Sprint(name, " ", k))
		}
		p.test = nil
		s, err := p.Run(t.Context())
		if errors.Is(err, ErrExists) { // the journal is damaged, so the finished files belong to nobody
			p.Force = true
			s, err = p.Run(t.Context())
		}
		require.NoError(t, err, "%d: %q", n, what)
		resumed[s.Resumed]++
		same(t, want, contents(t, dir), "%d: %q", n, what)
	}
	require.Greater(t, len(resumed), 3)
}

// TestTwice resumes a pack before its last state and stops it again.
func TestTwice(t *testing.T) {
	root, items := photos(t, 60)
	dir := t.TempDir()
	_, err := small(root, items, dir).Run(t.Context())
	require.NoError(t, err)
	want := contents(t, dir)
	dir = t.TempDir()
	p := small(root, items, dir)
	part := p.Outputs[0].Name + ".rec.part"
	points := countPoints(t, root, items)
	for _, n := range []int{points / 3, points / 7, points / 6, points / 7, points / 7, points / 8} {
		stopAt(p, n)
		_, err := p.Run(t.Context())
		require.ErrorIs(t, err, errStop)
		info, err := os.Stat(part)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(part, info.Size()*2/3))
	}
	p.test = nil
	s, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Positive(t, s.Resumed)
	same(t, want, contents(t, dir), "truncated again and again")
}

func TestRefused(t *testing.T) {
	root, items := photos(t, 30)
	dir := t.TempDir()
	p := small(root, items, dir)
	_, err := p.Run(t.Context())
	require.NoError(t, err)
	want := contents(t, dir)
	_, err = p.Run(t.Context())
	require.ErrorIs(t, err, ErrExists)
	require.ErrorContains(t, err, "p_train.rec: exists already")
	same(t, want, contents(t, dir), "refused")
	p.Force = true
	s, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 30, s.Items)
	same(t, want, contents(t, dir), "again")

	// Another pack's journal.
	for name, change := range map[string]func(p *RecordIO){
		"quality": func(p *RecordIO) { p.Image.Quality = 2 },
		"encoder": func(p *RecordIO) { p.Image = ImageOptions{Encoder: "again", Resize: 3, Quality: 1} },
		"labels":  func(p *RecordIO) { p.PackLabels = true },
		"sums":    func(p *RecordIO) { p.Sums = false },
		"item":    func(p *RecordIO) { p.Outputs[1].Items = p.Outputs[1].Items[1:] },
		"root":    func(p *RecordIO) { p.Root = t.TempDir() },
		"limits":  func(p *RecordIO) { p.Image.Limits.Pixels = 1000 },
	} {
		dir := t.TempDir()
		p := small(root, items, dir)
		stopAt(p, 12)
		_, err := p.Run(t.Context())
		require.ErrorIs(t, err, errStop)
		before := contents(t, dir)
		p.test = nil
		change(p)
		_, err = p.Run(t.Context())
		require.ErrorIs(t, err, ErrOther, name)
		same(t, before, contents(t, dir), "refused")
		p.Restart = true
		p.OnSkip = nil
		_, err = p.Run(t.Context())
		if name == "root" { // which has none of the images
			require.ErrorIs(t, err, ErrEmpty, name)
			require.Empty(t, contents(t, dir))
		} else {
			require.NoError(t, err, name)
		}
		require.NoFileExists(t, p.Journal)
		require.NoFileExists(t, p.Outputs[0].Name+".rec.part")
	}

	// A finished file of an unfinished pack is changed.
	dir = t.TempDir()
	p = small(root, items, dir)
	p.test = func(point string) error {
		if _, err := os.Stat(p.Outputs[0].Name + ".rec.sums"); err == nil && point == "noted" {
			return errStop
		}
		return nil
	}
	_, err = p.Run(t.Context())
	require.ErrorIs(t, err, errStop)
	p.test = nil
	require.NoError(t, os.Truncate(p.Outputs[0].Name+".idx", 5))
	_, err = p.Run(t.Context())
	require.ErrorContains(t, err, "p_train.idx: size differs from the packed file's")
	require.NoError(t, os.Remove(p.Outputs[0].Name+".idx"))
	_, err = p.Run(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist)

	// Invalid options.
	for want, change := range map[string]func(p *RecordIO){
		"quality 10: want 1 to 9 for png": func(p *RecordIO) { p.Image.Quality = 10 },
		"chroma 411: want one of [420] for again": func(p *RecordIO) {
			p.Image = ImageOptions{Encoder: "again", Chroma: jpeg.Chroma411}
		},
		`encoder "jpegli": no such encoder in this program: want one of turbo, again`: func(p *RecordIO) { p.Image = ImageOptions{Encoder: "jpegli"} },
		"quality 101: want 1 to 100 for jpeg":                                         func(p *RecordIO) { p.Image.Encoding, p.Image.Quality = JPEG, 101 },
		"resize -1: want 0 to 16777216":                                               func(p *RecordIO) { p.Image.Resize = -1 },
		"color(3)":                                                                    func(p *RecordIO) { p.Image.Color = 3 },
		"no output":                                                                   func(p *RecordIO) { p.Outputs = nil },
		"index 9223372036854775808: want at most": func(p *RecordIO) {
			p.Outputs = []RecordIOOutput{{"x", "x.lst", []imagerecord.Item{{Index: 1 << 63, Path: "x"}}}}
		},
	} {
		p := small(root, items, t.TempDir())
		change(p)
		_, err := p.Run(t.Context())
		require.ErrorContains(t, err, want)
	}
}

func TestInterrupted(t *testing.T) {
	root, items := photos(t, 60)
	dir := t.TempDir()
	_, err := small(root, items, dir).Run(t.Context())
	require.NoError(t, err)
	want := contents(t, dir)
	for n := 1; n < 60; n += 7 {
		dir := t.TempDir()
		p := small(root, items, dir)
		p.noteItems = 1000 // so that only the interruption records a state
		ctx, cancel := context.WithCancel(t.Context())
		p.Progress = func(done, _ int) {
			if done == n {
				cancel()
			}
		}
		s, err := p.Run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		done := s.Items
		require.GreaterOrEqual(t, done, n)
		p.Progress = nil
		if filelock.Works { // only one pack runs at a time
			p.test = func(string) error {
				p.test = nil
				q := *p
				_, err := q.Run(t.Context())
				require.ErrorIs(t, err, filelock.ErrLocked)
				q.Restart = true
				_, err = q.Run(t.Context())
				require.ErrorIs(t, err, filelock.ErrLocked)
				return nil
			}
		}
		s, err = p.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, done, s.Resumed)
		same(t, want, contents(t, dir), "interrupted at %d", n)
	}
}

// TestMemory checks that packed data does not stay in memory.
func TestMemory(t *testing.T) {
	root := t.TempDir()
	b, err := new(pngWriter).encode(nil, drawn(t, 1, 1, 1), 1)
	require.NoError(t, err)
	b = append(b, bytes.Repeat([]byte("0123456789abcdef"), 200)...)
	var items []imagerecord.Item
	count := short.Rounds(t, 10_000, 2_000)
	for i := range count {
		if i < 20 {
			require.NoError(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), b, 0o666))
		}
		items = append(items, imagerecord.Item{Index: uint64(i), Labels: []float32{0}, Path: fmt.Sprint(i % 20)})
	}
	p := &RecordIO{Root: root, Outputs: []RecordIOOutput{{filepath.Join(t.TempDir(), "x"), "", items}}, Image: ImageOptions{Encoding: PassThrough}, Workers: 2}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, uint64(0)
	p.Progress = func(done, _ int) {
		if done%500 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	s, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, count, s.Records)
	require.Less(t, int64(most)-int64(before), int64(4<<20), "%d bytes are packed", s.Bytes)
}

// again is the encoder of package codec/jpeg under another name and version.
type again struct{ e jpeg.Encoder }

func (a *again) Encode(dst []byte, t *tensor.Tensor, o codec.EncodeOptions) ([]byte, error) {
	return a.e.Encode(dst, t, jpeg.EncodeOptions{Quality: o.Quality, Chroma: o.Chroma, Dialect: jpeg.OpenCV})
}

func init() {
	codec.RegisterEncoder(codec.Encoder{Name: "again", Version: "again v1", Chroma: []codec.Chroma{codec.Chroma420}, New: func() codec.FormatEncoder { return new(again) }})
}

// TestJPEG packs photographs as JPEG files, the same bytes on every platform.
func TestJPEG(t *testing.T) {
	for _, c := range []struct {
		o      ImageOptions
		digest uint32
	}{
		{ImageOptions{Resize: 40}, 0x717cd142},
		{ImageOptions{Resize: 30, CenterCrop: true, Quality: 80, Color: Gray}, 0x5ac4a780},
		{ImageOptions{Quality: 50, Chroma: jpeg.Chroma444, Color: Unchanged}, 0x2204454b},
		{ImageOptions{Encoder: "again", Resize: 40}, 0x717cd142}, // the same files
	} {
		p := &RecordIO{Root: testImages, Image: c.o, Workers: 2, Outputs: []RecordIOOutput{{
			filepath.Join(t.TempDir(), "x"), "", goldenItems([]string{"jpeg_base_420.jpg", "png_gray8.png", "png_rgba8.png", "webp_lossy_64x48.webp", "gif_8bit.gif"}, 1),
		}}}
		_, err := p.Run(t.Context())
		require.NoError(t, err)
		b, err := os.ReadFile(p.Outputs[0].Name + ".rec")
		require.NoError(t, err)
		require.Equal(t, c.digest, crc32.ChecksumIEEE(b))
		for i, r := range readRecords(t, p.Outputs[0].Name) {
			info, err := codec.DecodeConfig(r.Content, nil)
			require.NoError(t, err)
			require.Equal(t, "jpeg", info.Format)
			if c.o.Resize > 0 {
				require.Equal(t, c.o.Resize, min(info.Width, info.Height))
			}
			want := map[Color]codec.Mode{RGB: codec.RGB, Gray: codec.L}[c.o.Color]
			if c.o.Color == Unchanged {
				if want = codec.RGB; i == 1 {
					want = codec.L
				}
			}
			require.Equal(t, want, info.Mode, i)
		}
	}
}

// TestBadImages packs files that cannot be packed.
func TestBadImages(t *testing.T) {
	root, _ := photos(t, 1)
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(root, "empty"), nil, 0o666))
	long, err := new(pngWriter).encode(nil, drawn(t, 1, 5000, 1), 1)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "long"), long, 0o666))
	var items []imagerecord.Item
	for i, n := range []string{"none.png", "folder", "empty", "long", filepath.ToSlash(filepath.Join(root, "0.png"))} {
		items = append(items, imagerecord.Item{Index: uint64(i), Path: n})
	}
	l := codec.DefaultLimits()
	l.Pixels = 1 << 20
	p := &RecordIO{Root: root, Outputs: []RecordIOOutput{{filepath.Join(t.TempDir(), "x"), "x.lst", items}}, Image: ImageOptions{Resize: 30, Limits: l}, OnError: SkipOnError}
	var bad []*ItemError
	p.OnSkip = func(e *ItemError) { bad = append(bad, e) }
	s, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, s.Records) // the last one; its path is absolute
	require.Len(t, bad, 4)
	require.ErrorIs(t, bad[0], fs.ErrNotExist)
	require.EqualError(t, bad[1], "x.lst: item 2: folder: is a folder: want a regular file")
	require.ErrorIs(t, bad[2], codec.ErrFormat)
	require.EqualError(t, bad[3], "x.lst: item 4: long: limit exceeded: 150000 x 30 pixels after the resize: the limit is 1048576")

	p.Outputs[0].Name += "2"
	p.Image = ImageOptions{Encoding: PassThrough, Limits: codec.Limits{Bytes: 20}}
	bad = nil
	_, err = p.Run(t.Context())
	require.ErrorIs(t, err, ErrEmpty)
	require.Len(t, bad, 5)
	require.ErrorIs(t, bad[2], codec.ErrFormat)
	require.ErrorIs(t, bad[3], codec.ErrLimit)

	// Files that are packed unchanged must begin as images. Check decodes them.
	whole, err := os.ReadFile(filepath.Join(root, "0.png"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "text.jpg"), []byte("no image"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(root, "cut.png"), whole[:len(whole)/2], 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(root, "x.heic"), []byte("\x00\x00\x00\x20ftypheic\x00\x00\x00\x00"), 0o666))
	p.Outputs[0].Items = []imagerecord.Item{{Index: 0, Path: "0.png"}, {Index: 1, Path: "text.jpg"}, {Index: 2, Path: "cut.png"}, {Index: 3, Path: "x.heic"}}
	for _, c := range []struct {
		check bool
		bad   []string
	}{{false, []string{"text.jpg"}}, {true, []string{"text.jpg", "cut.png", "x.heic"}}} {
		p.Outputs[0].Name += "c"
		p.Image = ImageOptions{Encoding: PassThrough, Check: c.check}
		bad = nil
		s, err := p.Run(t.Context())
		require.NoError(t, err)
		var names []string
		for _, b := range bad {
			names = append(names, b.Path)
		}
		require.Equal(t, c.bad, names)
		require.Equal(t, 4-len(c.bad), s.Records)
	}
}

// TestPackOfNothing packs lists without an image, and images that cannot be
// read. The pack fails and leaves no file.
func TestPackOfNothing(t *testing.T) {
	root, items := photos(t, 12)
	bad := []imagerecord.Item{items[10], {Index: 99, Labels: []float32{1}, Path: "missing.png"}}
	for name, outputs := range map[string][2][]imagerecord.Item{
		"no items":      {nil, nil},
		"all bad":       {bad[:1], bad[1:]},
		"the last none": {bad, nil},
	} {
		dir := t.TempDir()
		p := small(root, items, dir)
		p.Outputs[0].Items, p.Outputs[1].Items = outputs[0], outputs[1]
		_, err := p.Run(t.Context())
		require.ErrorIs(t, err, ErrEmpty, name)
		require.Empty(t, contents(t, dir), name)
	}
	// An image in any list is enough.
	dir := t.TempDir()
	p := small(root, items, dir)
	p.Outputs[1].Items = bad
	s, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 8, s.Records)
	require.Len(t, contents(t, dir), 6)
}
