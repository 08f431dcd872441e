package pack

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// shardGolden is the output of webdataset's writer, made by
// testdata/gen/records/shards_pack.py.
type shardGolden struct {
	Kaldi []struct {
		Groups []string
		Count  int
		Files  map[string]string
	}
	Waves, Segments struct {
		Count int
		Files map[string]string
	}
	Folder struct {
		Names []string
		Count int
		Files map[string]string
	}
}

func readShardGolden(t *testing.T) (g shardGolden) {
	b, err := os.ReadFile("../testdata/pack/expected.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	return g
}

// shardFiles returns the visible files of a folder by path.
func shardFiles(t testing.TB, dir string) map[string]string {
	m := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			m[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		return err
	}))
	return m
}

func groupsOf(t testing.TB, l ...string) (r []Group) {
	for _, s := range l {
		g, err := ParseGroup(s)
		require.NoError(t, err)
		r = append(r, g)
	}
	return r
}

// jsEvents ignores the goroutine that the runtime has on js during system
// calls.
var jsEvents = goleak.IgnoreAnyFunction("runtime.handleEvent")

// TestShardsOfKaldi compares shards with those of webdataset's writer, fed by
// Kaldi's readers.
func TestShardsOfKaldi(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), jsEvents)
	g := readShardGolden(t)
	t.Chdir("../testdata/kaldi")
	const dir = "../pack/"
	feats := KaldiOptions{
		Scripts: []KaldiFile{{matrixField, dir + "feats1.scp"}, {matrixField, dir + "feats2.scp"}},
		Labels:  []KaldiFile{{textField, dir + "text1"}, {textField, dir + "text2"}},
	}
	waves := KaldiOptions{Scripts: []KaldiFile{{"wav", dir + "wav.scp"}}, Labels: []KaldiFile{{"txt", dir + "wav_text"}}}
	segments := waves
	segments.Labels = []KaldiFile{{"txt", dir + "segments_text"}}
	segments.Segments = dir + "segments"
	check := func(o KaldiOptions, so Shards, want map[string]string) {
		for _, so.Workers = range []int{1, 3} {
			s, err := KaldiSamples(t.Context(), o)
			require.NoError(t, err)
			require.Empty(t, s.Invalid)
			out := t.TempDir()
			r, err := packShards(t.Context(), s, out, so)
			require.NoError(t, err)
			require.Equal(t, want, shardFiles(t, out), "%v", so.Groups)
			require.Len(t, r.Shards, len(want))
			require.NoError(t, s.Close())
		}
	}
	for _, c := range g.Kaldi {
		check(feats, Shards{Count: c.Count, Groups: groupsOf(t, c.Groups...)}, c.Files)
	}
	check(waves, Shards{Count: g.Waves.Count}, g.Waves.Files)
	check(segments, Shards{Count: g.Segments.Count}, g.Segments.Files)

	// Lengths from a file.
	var b strings.Builder
	for i, l := range []string{"feats1.scp", "feats2.scp"} {
		text, err := os.ReadFile(dir + l)
		require.NoError(t, err)
		for k, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			fmt.Fprintf(&b, "%s %v\n", strings.Fields(line)[0], 0.5+float64(k+i))
		}
	}
	feats.Lengths = filepath.Join(t.TempDir(), "utt2dur")
	require.NoError(t, os.WriteFile(feats.Lengths, []byte(b.String()), 0o666))
	s, err := KaldiSamples(t.Context(), feats)
	require.NoError(t, err)
	out := t.TempDir()
	r, err := packShards(t.Context(), s, out, Shards{Groups: groupsOf(t, "0.5:1.5", "1.5:3")})
	require.NoError(t, err)
	require.Equal(t, []string{"_1.5", "1.5_3"}, []string{filepath.Base(filepath.Dir(r.Shards[0].Name)), filepath.Base(filepath.Dir(r.Shards[1].Name))})
	require.Equal(t, []int{1, 4}, []int{r.Shards[0].Samples, r.Shards[1].Samples})
	require.Len(t, r.Outside, s.Len()-5)
	require.NoError(t, s.Close())
}

// folderOf creates files that contain the digests of their names.
func folderOf(t testing.TB, names ...string) string {
	dir := t.TempDir()
	for _, n := range names {
		p := filepath.Join(dir, filepath.FromSlash(n))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o777))
		h := sha256.Sum256([]byte(n))
		require.NoError(t, os.WriteFile(p, h[:], 0o666))
	}
	return dir
}

func TestShardsOfFolder(t *testing.T) {
	g := readShardGolden(t).Folder
	dir := folderOf(t, append(g.Names, "README", "sub/.hidden.txt", ".git/x.txt")...)
	out := filepath.Join(dir, "out")
	s, err := FolderSamples(t.Context(), store.Local, dir, out)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "README")}, s.LeftOut)
	_, err = packShards(t.Context(), s, out, Shards{Count: g.Count, Workers: 2})
	require.NoError(t, err)
	require.Equal(t, g.Files, shardFiles(t, out))
	_, err = FolderSamples(t.Context(), store.Local, dir, dir)
	require.ErrorContains(t, err, "input and output are the same folder")

	// The output folder inside the input is ignored.
	again, err := FolderSamples(t.Context(), store.Local, dir, out)
	require.NoError(t, err)
	require.Equal(t, s.keys, again.keys)

	if err := os.Symlink(dir, filepath.Join(dir, "dir", "round")); err == nil {
		_, err = FolderSamples(t.Context(), store.Local, dir, out)
		require.ErrorContains(t, err, "link to a folder above it")
	}
	_, err = FolderSamples(t.Context(), store.Local, filepath.Join(dir, "none"), out)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// shardMembers returns the members of shards, as "name=data" if the data is
// text.
func shardMembers(t testing.TB, shards []Shard) (l []string) {
	for _, s := range shards {
		f, err := os.Open(s.Name)
		require.NoError(t, err)
		for r := tar.NewReader(f); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			b, err := io.ReadAll(r)
			require.NoError(t, err)
			if len(b) == sha256.Size || bytes.HasPrefix(b, []byte("\x89PNG")) {
				b = nil
			}
			l = append(l, h.Name+"="+string(b))
		}
		require.NoError(t, f.Close())
	}
	return l
}

// imagesOf is folderOf with images.
func imagesOf(t testing.TB, names ...string) (dir string) {
	dir = folderOf(t, names...)
	b, err := new(pngWriter).encode(nil, drawn(t, 1, 1, 1), 1)
	require.NoError(t, err)
	for _, n := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(n)), b, 0o666))
	}
	return dir
}

// TestShardsNoImages: a file with the name of an image, which is none, is not
// packed silently.
func TestShardsNoImages(t *testing.T) {
	dir := imagesOf(t, "a/1.png", "a/cut.png", "b/2.png")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "text.jpg"), []byte("no image"), 0o666))
	b, err := os.ReadFile(filepath.Join(dir, "a", "1.png"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "cut.png"), b[:45], 0o666))
	for _, c := range []struct {
		check bool
		bad   []string
	}{{false, []string{"text.jpg"}}, {true, []string{"cut.png", "text.jpg"}}} {
		s, err := ClassSamples(t.Context(), store.Local, dir, "", ImageOptions{Encoding: PassThrough, Check: c.check})
		require.NoError(t, err)
		var bad []string
		r, err := packShards(t.Context(), s, t.TempDir(), Shards{OnError: SkipOnError, OnSkip: func(err error) { bad = append(bad, err.Error()) }})
		require.NoError(t, err)
		require.Equal(t, 4-len(c.bad), r.Samples)
		require.Len(t, bad, len(c.bad))
		for i, name := range c.bad {
			require.Contains(t, bad[i], name)
		}
	}
}

// keep packs images unchanged.
var keep = ImageOptions{Encoding: PassThrough}

func TestShardsOfClasses(t *testing.T) {
	dir := imagesOf(t, "b/2.jpg", "b/1.PNG", "b/sub/3.jpeg", "a-b/x.jpg", "a/z.jpg", "a/c/1.jpg", "a/some.thing.jpg", "b/list.txt", "top.jpg")
	s, err := ClassSamples(t.Context(), store.Local, dir, "", keep)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "a-b", "b"}, s.ClassNames)
	require.Equal(t, []string{filepath.Join(dir, "top.jpg"), filepath.Join(dir, "b", "list.txt")}, s.LeftOut)
	out := t.TempDir()
	r, err := packShards(t.Context(), s, out, Shards{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"a/some_thing.cls=0", "a/some_thing.jpg=", "a/z.cls=0", "a/z.jpg=", "a/c/1.cls=0", "a/c/1.jpg=", "a-b/x.cls=1", "a-b/x.jpg=",
		"b/1.cls=2", "b/1.png=", "b/2.cls=2", "b/2.jpg=", "b/sub/3.cls=2", "b/sub/3.jpeg=",
	}, shardMembers(t, r.Shards))
	text, err := os.ReadFile(filepath.Join(out, classesFile))
	require.NoError(t, err)
	require.Equal(t, "a\na-b\nb\n", string(text))

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o777))
	_, err = ClassSamples(t.Context(), store.Local, dir, "", keep)
	require.ErrorContains(t, err, `class "empty"`)
}

func TestShardsOfList(t *testing.T) {
	dir := imagesOf(t, "x/1.jpg", "2.jpg", "3.jpg", "4.png", "x/1.png")
	list := filepath.Join(t.TempDir(), "a.lst")
	require.NoError(t, os.WriteFile(list, []byte("5\t3\t2.jpg\n1\t0.5\tx/1.jpg\n2\t1\t2\t-1.25\t3.jpg\n7\t-2\t4.png\n8\t1\tx/1.png\n9\tnan\t3.jpg\n10\t1\tnoend\n11\t1\tc.cls\n12\t16777216\tgone.jpg\n"), 0o666))
	s, err := ListSamples(t.Context(), store.Local, list, dir, keep)
	require.NoError(t, err)
	var bad []string
	note := func(err error) { bad = append(bad, err.Error()) }
	r, err := packShards(t.Context(), s, t.TempDir(), Shards{OnError: SkipOnError, OnSkip: note})
	require.NoError(t, err)
	require.Equal(t, []string{"2.cls=3", "2.jpg=", "x/1.jpg=", "x/1.json=[0.5]", "3.jpg=", "3.json=[1, 2, -1.25]", "4.cls=-2", "4.png="}, shardMembers(t, r.Shards))
	require.Equal(t, 5, r.Skipped)
	for i, want := range []string{"both would be sample \"x/1\"", "labels [NaN]", "noend", "c.cls", "gone.jpg"} {
		require.Contains(t, bad[i], want)
	}
	_, err = packShards(t.Context(), s, t.TempDir(), Shards{})
	require.ErrorIs(t, err, ErrSample)
	_, err = ListSamples(t.Context(), store.Local, filepath.Join(dir, "none.lst"), dir, keep)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestShardsOfImages checks that images are processed as RecordIO processes
// them, on any number of workers.
func TestShardsOfImages(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		m := image.NewNRGBA(image.Rect(0, 0, 20+i, 31-i))
		for k := range m.Pix {
			m.Pix[k] = uint8(k*7 + i)
		}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, m))
		p := filepath.Join(dir, fmt.Sprint(i%3), fmt.Sprintf("%d.png", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o777))
		require.NoError(t, os.WriteFile(p, b.Bytes(), 0o666))
	}
	for _, o := range []ImageOptions{{Resize: 16, Quality: 80}, {Encoding: PNG, CenterCrop: true, Color: Gray}} {
		var want map[string]string
		for _, jobs := range []int{1, 4} {
			s, err := ClassSamples(t.Context(), store.Local, dir, "", o)
			require.NoError(t, err)
			out := t.TempDir()
			_, err = packShards(t.Context(), s, out, Shards{Count: 2, Workers: jobs})
			require.NoError(t, err)
			if got := shardFiles(t, out); want == nil {
				want = got
			} else {
				require.Equal(t, want, got)
			}
			for i := range s.Len() {
				x, err := s.Sample(t.Context(), i)
				require.NoError(t, err)
				c := o
				require.NoError(t, c.fill())
				b, err := (&images{o: &c}).image(t.Context(), store.Local, nil, filepath.Join(dir, s.Key(i)+".png"))
				require.NoError(t, err)
				require.Equal(t, map[Encoding]string{JPEG: "jpg", PNG: "png"}[o.Encoding], x.Fields[0].Ext)
				require.True(t, bytes.Equal(b, x.Fields[0].Data))
			}
		}
	}
	_, err := ClassSamples(t.Context(), store.Local, dir, "", ImageOptions{Resize: -1})
	require.ErrorContains(t, err, "resize -1")
	a, err := ClassSamples(t.Context(), store.Local, dir, "", ImageOptions{Resize: 9})
	require.NoError(t, err)
	b, err := ClassSamples(t.Context(), store.Local, dir, "", ImageOptions{Resize: 8})
	require.NoError(t, err)
	require.NotEqual(t, a.digest, b.digest)
}

func TestParseGroup(t *testing.T) {
	for s, want := range map[string]string{"10:500": "10_500", ":10": "_10", "1:10": "_10", "500:": "500_", ":": "_", "0:2": "_2", "0.25:1.5": "_1.5", "1e3:2e3": "1000_2000"} {
		g, err := ParseGroup(s)
		require.NoError(t, err, s)
		require.Equal(t, want, g.String())
	}
	for _, s := range []string{"", "10", "a:b", "10:10", "10:5", "-1:5", "1:2:3", "nan:3", "1:nan", "inf:", "1:inf", "1:x"} {
		_, err := ParseGroup(s)
		require.Error(t, err, s)
	}
}

// numbered returns n samples of two fields and different sizes that need no
// files.
func numbered(n int) *Samples {
	s := &Samples{digest: []byte("numbered")}
	for i := range n {
		s.keys = append(s.keys, fmt.Sprintf("%04d", (i*7)%n))
	}
	s.read = func(_ context.Context, i int) (*webdataset.Sample, error) {
		key := s.keys[i]
		if i%10 == 9 {
			return nil, fmt.Errorf("sample %s: %w", key, fs.ErrNotExist)
		}
		return &webdataset.Sample{Key: key, Fields: []webdataset.Field{
			{Ext: "txt", Data: []byte(key)}, {Ext: "bin", Data: []byte(strings.Repeat(key, i%13))},
		}}, nil
	}
	s.length = func(_ context.Context, i int) (float64, error) {
		if i == 5 {
			return 0, errors.New("no length")
		}
		return float64(i % 4), nil
	}
	return s
}

func journalName(o Shards) string {
	if o.Name == "" {
		o.Name = "data-%05d.tar"
	}
	return o.Name + ".pack"
}

// packShards packs samples into a folder.
func packShards(ctx context.Context, s *Samples, dir string, p Shards) (*ShardsReport, error) {
	p.Samples, p.Dir = s, dir
	return p.Run(ctx)
}

// shardPacks returns packs with all kinds of options.
func shardPacks(t testing.TB) []Shards {
	l := []Shards{
		{Count: 7},
		{Count: 7, Index: true, Sort: true},
		{Count: 1000, Size: 300, Name: "x%%%03d.tar"},
		{Count: 5, Shuffle: true, Seed: 3, Train: 0.7, Test: 0.1},
		{Count: 4, Shuffle: true, Seed: 4, Groups: groupsOf(t, "2:3", "3:", ":2")},
		{Count: 4, Train: 0.5, Test: 0.5, Groups: groupsOf(t, "0:1", "2:")},
		{Count: 9, Name: "data-%05d.tar.gz"},
		{Count: 9, Name: "data-%d.tar.zst"},
	}
	for i := range l {
		l[i].OnError, l[i].Workers = SkipOnError, 3
	}
	return l
}

// TestShardsResume stops packs everywhere, again and again. The shards must be
// those of an undisturbed pack.
func TestShardsResume(t *testing.T) {
	often := short.Step(t, 5)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), jsEvents)
	const n = 40
	for _, o := range shardPacks(t) {
		s := numbered(n)
		whole := t.TempDir()
		want, err := packShards(t.Context(), s, whole, o)
		require.NoError(t, err)
		files := shardFiles(t, whole)
		o.Workers = 1
		one := t.TempDir()
		r, err := packShards(t.Context(), s, one, o)
		require.NoError(t, err)
		require.Equal(t, files, shardFiles(t, one))
		require.Equal(t, want.Samples, r.Samples)

		for _, every := range []int{often, 17} {
			dir := t.TempDir()
			runs := 0
			for ; ; runs++ {
				ctx, cancel := context.WithCancel(t.Context())
				seen := 0
				p := o
				p.Progress = func(done, steps int) {
					require.LessOrEqual(t, done, steps)
					// Stop every run at least one shard later.
					if seen++; seen == every*(runs+1) {
						cancel()
					}
				}
				r, err = packShards(ctx, s, dir, p)
				cancel()
				if err == nil {
					break
				}
				require.ErrorIs(t, err, context.Canceled)
				for name := range shardFiles(t, dir) {
					require.True(t, files[name] != "" || name == journalName(p), name)
				}
			}
			require.Equal(t, files, shardFiles(t, dir), "%+v, stopped every %d", o, every)
			require.Equal(t, want.Skipped, r.Skipped)
			require.Equal(t, want.Samples, r.Samples)
			require.Equal(t, want.Outside, r.Outside)
			require.Len(t, r.Shards, len(want.Shards))
			for i := range r.Shards {
				require.Equal(t, strings.Replace(want.Shards[i].Name, whole, dir, 1), r.Shards[i].Name)
				require.Equal(t, want.Shards[i].CRC, r.Shards[i].CRC)
			}
		}
	}
}

// TestShardsSamples checks that every sample is packed once, in the requested
// order.
func TestShardsSamples(t *testing.T) {
	const n = 60
	for _, o := range shardPacks(t) {
		if strings.HasSuffix(o.Name, "gz") || strings.HasSuffix(o.Name, "zst") {
			continue
		}
		s := numbered(n)
		r, err := packShards(t.Context(), s, t.TempDir(), o)
		require.NoError(t, err)
		var keys []string
		for _, c := range shardMembers(t, r.Shards) {
			if key, ok := strings.CutSuffix(strings.SplitN(c, "=", 2)[0], ".txt"); ok {
				keys = append(keys, key)
			}
		}
		want := map[string]bool{}
		for i, k := range s.keys {
			l := float64(i % 4)
			in := len(o.Groups) == 0 || i != 5 && slices.ContainsFunc(o.Groups, func(g Group) bool { return g.From <= l && l < g.To })
			if in && i%10 != 9 {
				want[k] = true
			}
		}
		require.Len(t, keys, len(want))
		for _, k := range keys {
			require.True(t, want[k])
		}
		require.Equal(t, o.Sort, slices.IsSorted(keys))
		if o.Index {
			for _, x := range r.Shards {
				require.NoError(t, webdataset.Verify(t.Context(), store.Local, x.Name, webdataset.Options{}))
			}
		}
	}
}

// TestShardsKept checks that existing shards are neither lost nor mixed.
func TestShardsKept(t *testing.T) {
	ctx := t.Context()
	s := numbered(30)
	o := Shards{Count: 4, OnError: SkipOnError, Index: true}
	dir := t.TempDir()
	_, err := packShards(ctx, s, dir, o)
	require.NoError(t, err)
	want := shardFiles(t, dir)
	_, err = packShards(ctx, s, dir, o)
	require.ErrorIs(t, err, ErrExists)
	require.Equal(t, want, shardFiles(t, dir))

	// Shards of another name belong to another pack.
	p := o
	p.Name = "other-%05d.tar"
	_, err = packShards(ctx, s, dir, p)
	require.NoError(t, err)

	// Force replaces all shards of the name and nothing else.
	few := numbered(8)
	o.Force = true
	_, err = packShards(ctx, few, dir, o)
	require.NoError(t, err)
	got := shardFiles(t, dir)
	require.Contains(t, got, "data-00001.tar")
	require.NotContains(t, got, "data-00002.tar")
	require.NotContains(t, got, "data-00002.tar.index")
	require.Contains(t, got, "other-00002.tar")
	o.Force = false

	// An unfinished pack.
	stop := func(dir string, samples *Samples, o Shards, after int) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		o.Progress = func(done, _ int) {
			if done == after {
				cancel()
			}
		}
		_, err := packShards(ctx, samples, dir, o)
		return err
	}
	dir = t.TempDir()
	require.ErrorIs(t, stop(dir, s, o, 20), context.Canceled)
	// A different pack does not resume it.
	p = o
	p.Count = 5
	_, err = packShards(ctx, s, dir, p)
	require.ErrorIs(t, err, ErrOther)
	other := numbered(30)
	other.digest = []byte("other")
	_, err = packShards(ctx, other, dir, o)
	require.ErrorIs(t, err, ErrOther)
	// Two packs cannot run at the same time.
	if filelock.Works {
		p = o
		p.Progress = func(done, _ int) {
			_, err := packShards(ctx, s, dir, o)
			require.ErrorIs(t, err, filelock.ErrLocked)
			r := o
			r.Restart = true
			_, err = packShards(ctx, s, dir, r)
			require.ErrorIs(t, err, filelock.ErrLocked)
		}
		require.NoError(t, errors.Join(func() error { _, err := packShards(ctx, s, dir, p); return err }()))
		require.Equal(t, want, shardFiles(t, dir))
		dir = t.TempDir()
		require.ErrorIs(t, stop(dir, s, o, 20), context.Canceled)
	}
	// Unfinished files of a killed run are removed.
	for _, name := range []string{".data-00004.tar.tmp123", ".data-00003.tar.index.tmp9"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o666))
	}
	foreign := filepath.Join(dir, ".data-x.tar.tmp1")
	require.NoError(t, os.WriteFile(foreign, nil, 0o666))
	_, err = packShards(ctx, s, dir, o)
	require.NoError(t, err)
	require.FileExists(t, foreign)
	require.NoError(t, os.Remove(foreign))
	require.Equal(t, want, shardFiles(t, dir))

	// Its shards were changed or removed.
	for _, change := range []func(name string) error{
		os.Remove,
		func(name string) error { return os.Remove(webdataset.IndexName(name)) },
		func(name string) error { return os.Truncate(name, 1024) },
		func(name string) error {
			b, err := os.ReadFile(name)
			b[600] ^= 1
			return errors.Join(err, os.WriteFile(name, b, 0o666))
		},
	} {
		dir = t.TempDir()
		require.ErrorIs(t, stop(dir, s, o, 20), context.Canceled)
		require.NoError(t, change(filepath.Join(dir, "data-00002.tar")))
		_, err = packShards(ctx, s, dir, o)
		require.ErrorIs(t, err, ErrChanged)
		p = o
		p.Restart = true
		_, err = packShards(ctx, s, dir, p)
		require.NoError(t, err)
		require.Equal(t, want, shardFiles(t, dir))
	}
	// Restart also discards a pack of other samples.
	dir = t.TempDir()
	require.ErrorIs(t, stop(dir, other, p, 20), context.Canceled)
	_, err = packShards(ctx, s, dir, p)
	require.NoError(t, err)
	require.Equal(t, want, shardFiles(t, dir))
	// It keeps a finished one.
	_, err = packShards(ctx, s, dir, p)
	require.ErrorIs(t, err, ErrExists)
}

func TestShardsRefused(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := numbered(5)
	for _, c := range []struct {
		o    Shards
		want string
	}{
		{Shards{Name: "a/b-%d.tar"}, "want the name of a file"},
		{Shards{Name: ".%d.tar"}, "want the name of a file"},
		{Shards{Name: "data.tar"}, "places for the number"},
		{Shards{Name: "data-%d.tar.gz", Index: true}, "no index"},
		{Shards{Count: -1}, "count -1"},
		{Shards{Size: -1}, "size -1"},
		{Shards{Workers: -1}, "-1 workers"},
		{Shards{Sort: true, Shuffle: true}, "at most one of them"},
		{Shards{Train: 0.7, Test: 0.5}, "ratios"},
		{Shards{Test: 0.5}, "ratios"},
		{Shards{Train: -1}, "ratios"},
		{Shards{Groups: groupsOf(t, "1:5", "4:7")}, "overlap"},
		{Shards{Groups: []Group{{0, 1}, {1, 1}}}, "length group"},
	} {
		_, err := packShards(ctx, s, dir, c.o)
		require.ErrorContains(t, err, c.want)
		require.Empty(t, shardFiles(t, dir))
	}
	none := numbered(0)
	_, err := packShards(ctx, none, dir, Shards{})
	require.ErrorContains(t, err, "no samples to pack")
	short := numbered(5)
	short.length = nil
	_, err = packShards(ctx, short, dir, Shards{Groups: groupsOf(t, "1:2")})
	require.ErrorContains(t, err, "without lengths")
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	_, err = packShards(ctx, s, file, Shards{})
	require.ErrorContains(t, err, "want a folder")
	_, err = packShards(ctx, s, "s3://bucket/x", Shards{})
	require.ErrorContains(t, err, "no store")
	// A sample that cannot be read or written ends the pack or is skipped.
	out := filepath.Join(dir, "out%d%%")
	bad := numbered(12)
	good := bad.read
	bad.read = func(ctx context.Context, i int) (*webdataset.Sample, error) {
		x, err := good(ctx, i)
		if i == 0 {
			x.Key = "two.dots"
		}
		return x, err
	}
	r, err := packShards(ctx, bad, out, Shards{Count: 4})
	require.ErrorIs(t, err, ErrSample)
	require.Empty(t, r.Shards)
	stopped, stop := context.WithCancel(ctx)
	defer stop()
	r, err = packShards(stopped, bad, out, Shards{Count: 4, OnError: SkipOnError, OnSkip: func(err error) {
		if errors.Is(err, fs.ErrNotExist) {
			stop()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Shards, 2)
	r, err = packShards(ctx, bad, out, Shards{Count: 4, OnError: SkipOnError})
	require.NoError(t, err)
	require.Equal(t, []int{10, 2, 2, 3}, []int{r.Samples, r.Skipped, r.Resumed, len(r.Shards)})
	require.Equal(t, filepath.Join(out, "data-00000.tar"), r.Shards[0].Name)
}

// TestShardsFail checks that a failing rename ends the pack, and that it
// resumes.
func TestShardsFail(t *testing.T) {
	ctx := t.Context()
	s := numbered(40)
	whole := t.TempDir()
	o := Shards{Count: 6, OnError: SkipOnError, Workers: 2}
	_, err := packShards(ctx, s, whole, o)
	require.NoError(t, err)
	for n := range 6 {
		dir := t.TempDir()
		in := filepath.Join(dir, fmt.Sprintf("data-%05d.tar", n))
		require.NoError(t, os.MkdirAll(filepath.Join(in, "x"), 0o777))
		for range 2 { // a skipped sample would shift the others
			r, err := packShards(ctx, s, dir, o)
			require.ErrorContains(t, err, filepath.Base(in))
			require.NotErrorIs(t, err, ErrSample)
			require.Len(t, r.Shards, n)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, entries, n+2) // the shards, the folder and the journal
		}
		require.NoError(t, os.RemoveAll(in))
		r, err := packShards(ctx, s, dir, o)
		require.NoError(t, err)
		require.Equal(t, n, r.Resumed)
		require.Equal(t, shardFiles(t, whole), shardFiles(t, dir))
	}
	// The folder of a group, and the file of class names.
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "_2"), nil, 0o666))
	o.Groups = groupsOf(t, ":2", "2:")
	_, err = packShards(ctx, s, dir, o)
	require.Error(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "_2")))
	s.ClassNames = []string{"a"}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, classesFile, "x"), 0o777))
	_, err = packShards(ctx, s, dir, o)
	require.ErrorContains(t, err, classesFile)
	require.FileExists(t, filepath.Join(dir, journalName(o)))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, classesFile)))
	_, err = packShards(ctx, s, dir, o)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(dir, journalName(o)))
}

// TestKaldiRefused checks the errors for invalid input.
func TestKaldiRefused(t *testing.T) {
	ctx := t.Context()
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	var ark, scp strings.Builder
	w := kaldi.NewWriter(&ark, kaldi.WriterOptions{Script: &scp, Name: "a.ark"})
	for i, k := range []string{"a", "b", "c.d", "e"} {
		require.NoError(t, w.Write(k, zeroMatrix(t, i+2, 3)))
	}
	write("a.ark", ark.String())
	write("feats.scp", scp.String())
	write("text", "a one\nb two\nc.d three\nzz more\n")
	write("missing.scp", "a gone.ark:3\nb a.ark:999999\n")
	write("bad.scp", "a\n")
	write("twice.scp", "a a.ark:2\na a.ark:2\n")
	write("pipe.scp", "a sox x.wav |\n")
	write("badtext", "a one\nb \xff\n")
	write("conflict", "a one\na two\n")
	write("same", "a one\n\n  \na one\n")
	write("lens", "a 3\nb x\n")
	write("lens2", "a 3\na 4\n")
	write("lens3", "a 3\n")
	write("long", "a "+strings.Repeat("x", 17<<20)+"\n")
	write("seg1", "s a 0 1 0 0\n")
	write("seg2", "s a 1 0.5\n")
	write("seg3", "s a x 1\n")
	write("seg4", "s gone 0 1\ns2 a 0 1\ns2 a 0 1\n")
	write("seg5", "s a 0 1 -1\n")
	feats := []KaldiFile{{matrixField, "feats.scp"}}
	for _, c := range []struct {
		o    KaldiOptions
		want string
	}{
		{KaldiOptions{}, "no script"},
		{KaldiOptions{Scripts: []KaldiFile{{matrixField, "none.scp"}}}, "none.scp"},
		{KaldiOptions{Scripts: []KaldiFile{{matrixField, "pipe.scp"}}}, `pipe.scp: line 1: "a" is a command, which is not run: "sox x.wav"`},
		{KaldiOptions{Scripts: []KaldiFile{{matrixField, "feats.scp"}, {"x.npy", "bad.scp"}}}, "line 1: the line \"a\""},
		{KaldiOptions{Scripts: feats, Labels: []KaldiFile{{textField, "none"}}}, "none"},
		{KaldiOptions{Scripts: feats, Labels: []KaldiFile{{textField, "badtext"}}}, "badtext:2: want UTF-8"},
		{KaldiOptions{Scripts: feats, Labels: []KaldiFile{{textField, "conflict"}}}, `conflict:2: duplicate key "a" with another text`},
		{KaldiOptions{Scripts: feats, Labels: []KaldiFile{{matrixField, "text"}}}, "named by both a script and a label"},
		{KaldiOptions{Scripts: feats, Labels: []KaldiFile{{textField, "long"}}}, "long:1"},
		{KaldiOptions{Scripts: feats, Lengths: "lens"}, `lens:2: length "x" of "b"`},
		{KaldiOptions{Scripts: feats, Lengths: "lens2"}, `lens2:2: duplicate key "a" with another length`},
		{KaldiOptions{Scripts: feats, Segments: "seg1"}, "segments need a script of field wav"},
		{KaldiOptions{Scripts: []KaldiFile{{"wav", "feats.scp"}}, Segments: "seg1"}, "seg1:1: 6 fields"},
		{KaldiOptions{Scripts: []KaldiFile{{"wav", "feats.scp"}}, Segments: "seg2"}, "seg2:1: segment"},
		{KaldiOptions{Scripts: []KaldiFile{{"wav", "feats.scp"}}, Segments: "seg3"}, "seg3:1: segment"},
		{KaldiOptions{Scripts: []KaldiFile{{"wav", "feats.scp"}}, Segments: "seg5"}, "seg5:1: segment"},
	} {
		_, err := KaldiSamples(ctx, c.o)
		require.ErrorContains(t, err, c.want)
	}
	bad := func(o KaldiOptions, so Shards) (l []string, keys []string) {
		s, err := KaldiSamples(ctx, o)
		require.NoError(t, err)
		so.OnError = SkipOnError
		so.OnSkip = func(err error) { l = append(l, err.Error()) }
		r, err := packShards(ctx, s, t.TempDir(), so)
		require.NoError(t, err)
		require.Len(t, l, r.Skipped)
		for _, c := range shardMembers(t, r.Shards) {
			keys = append(keys, strings.SplitN(c, ".", 2)[0])
		}
		return l, slices.Compact(keys)
	}
	l, keys := bad(KaldiOptions{Scripts: feats, Labels: []KaldiFile{{textField, "text"}}}, Shards{})
	require.Equal(t, []string{"a", "b"}, keys)
	require.Equal(t, []string{
		`pack: invalid sample: key "c.d": webdataset would read it as key "c" and field "d.mat.npy"`,
		`pack: invalid sample: "e" has no label.txt`,
		`pack: invalid sample: "zz" has a label.txt but no mat.npy`,
	}, l)
	l, keys = bad(KaldiOptions{Scripts: feats, Labels: []KaldiFile{{textField, "same"}}, Lengths: "lens3"}, Shards{})
	require.Equal(t, []string{"a"}, keys)
	require.Equal(t, `pack: invalid sample: "b" has no label.txt, no length`, l[0])
	l, _ = bad(KaldiOptions{Scripts: []KaldiFile{{matrixField, "twice.scp"}, {"x", "feats.scp"}}}, Shards{})
	require.Equal(t, []string{`pack: invalid sample: twice.scp: line 2: duplicate key "a"`, `pack: invalid sample: "b" has a x but no mat.npy`}, l[:2])
	for _, so := range []Shards{{}, {Groups: groupsOf(t, ":")}} {
		l, _ = bad(KaldiOptions{Scripts: []KaldiFile{{matrixField, "missing.scp"}}}, so)
		require.Len(t, l, 2)
		require.Contains(t, l[0], "gone.ark")
		require.Contains(t, l[1], "the file has")
	}

	// Waves, and objects that are no waves.
	ark.Reset()
	scp.Reset()
	w = kaldi.NewWriter(&ark, kaldi.WriterOptions{Script: &scp, Name: "w.ark"})
	require.NoError(t, w.WriteWave("a", countingWave(t, 1000, 1), 1000))
	require.NoError(t, w.WriteWave("two", countingWave(t, 1000, 2), 1000))
	write("w.ark", ark.String())
	write("w.scp", scp.String()+"mat a.ark:2\nfile a.ark\n")
	write("segs", `ok a 0.2 1.4999
over a 0.2 1.5
late a 1 1.2
short a 0.2 0.3
chan a 0 1 1
none two 0 1
second two 0 1 1
isnone mat 0 1
gone rec 0 1
ok a 0 1
`)
	l, keys = bad(KaldiOptions{Scripts: []KaldiFile{{"wav", "w.scp"}}, Segments: "segs"}, Shards{})
	require.Equal(t, []string{"ok", "second"}, keys)
	for i, want := range []string{`"gone": unknown recording "rec"`, `duplicate key "ok"`, "ends more than", "starts after the 1000 samples", "100 samples at 1000 Hz", "channel 1 of 1", "2 channels: want a segment that names one", "matrix: want a wave"} {
		require.Contains(t, l[i], want)
	}
	_, keys = bad(KaldiOptions{Scripts: []KaldiFile{{"wav", "w.scp"}}, Segments: "segs"}, Shards{Groups: groupsOf(t, "801:")})
	require.Equal(t, []string{"second"}, keys)
	l, keys = bad(KaldiOptions{Scripts: []KaldiFile{{matrixField, "w.scp"}}}, Shards{})
	require.Equal(t, []string{"mat"}, keys)
	require.Contains(t, l[0], "a wave in field mat.npy")
	write("range.scp", "a a.ark:2[0:1]\n")
	l, keys = bad(KaldiOptions{Scripts: []KaldiFile{{"ark", "range.scp"}}}, Shards{})
	require.Empty(t, keys)
	require.Contains(t, l[0], "no bytes of its own")

	// The bytes of an object and of a file.
	write("raw.scp", "a a.ark:2\nb a.ark\n")
	s, err := KaldiSamples(ctx, KaldiOptions{Scripts: []KaldiFile{{"ark", "raw.scp"}}})
	require.NoError(t, err)
	object, err := s.Sample(ctx, 0)
	require.NoError(t, err)
	file, err := s.Sample(ctx, 1)
	require.NoError(t, err)
	all, err := os.ReadFile("a.ark")
	require.NoError(t, err)
	require.Equal(t, all, file.Fields[0].Data)
	require.Equal(t, all[2:2+len(object.Fields[0].Data)], object.Fields[0].Data)
	require.Len(t, object.Fields[0].Data, 5+10+4*2*3)
	require.NoError(t, s.Close())
}

func TestParseKaldiFile(t *testing.T) {
	for s, want := range map[string]KaldiFile{
		"feats.scp": {matrixField, "feats.scp"}, "wav=w.scp": {"wav", "w.scp"}, "exp/a=1/f.scp": {matrixField, "exp/a=1/f.scp"}, "x.npy=a=b": {"x.npy", "a=b"},
	} {
		got, err := ParseScript(s)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	l, err := ParseLabels("text")
	require.NoError(t, err)
	require.Equal(t, KaldiFile{textField, "text"}, l)
	for _, s := range []string{"", "wav=", "=a", "WAV=a", "a b=c", "a\x00=c"} {
		_, err := ParseScript(s)
		require.Error(t, err, "%q", s)
	}
}

// TestShardsDigest checks that a pack resumes only with unchanged files.
func TestShardsDigest(t *testing.T) {
	ctx := t.Context()
	dir := folderOf(t, "a/1.jpg", "b/2.jpg")
	list := filepath.Join(t.TempDir(), "a.lst")
	require.NoError(t, os.WriteFile(list, []byte("0\t1\ta/1.jpg\n1\t0\tb/2.jpg\n"), 0o666))
	makers := map[string]func() (*Samples, error){
		"folder":  func() (*Samples, error) { return FolderSamples(ctx, store.Local, dir, "") },
		"classes": func() (*Samples, error) { return ClassSamples(ctx, store.Local, dir, "", keep) },
		"list":    func() (*Samples, error) { return ListSamples(ctx, store.Local, list, dir, keep) },
	}
	before := map[string]string{}
	for k, f := range makers {
		s, err := f()
		require.NoError(t, err)
		before[k] = string(s.digest)
		again, err := f()
		require.NoError(t, err)
		require.Equal(t, s.digest, again.digest)
	}
	require.Len(t, slices.Compact(slices.Sorted(maps.Values(before))), len(before))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b", "2.jpg"), []byte("other"), 0o666))
	for k, f := range makers {
		s, err := f()
		require.NoError(t, err)
		require.NotEqual(t, before[k], string(s.digest))
	}
}

func zeroMatrix(t testing.TB, rows, cols int) *tensor.Tensor {
	m, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(rows, cols)})
	require.NoError(t, err)
	return m
}

func countingWave(t testing.TB, samples, channels int) *tensor.Tensor {
	m, err := tensor.New(tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(samples, channels)})
	require.NoError(t, err)
	v := tensor.View[int16](m)
	for i := range v {
		v[i] = int16(i)
	}
	return m
}

// FuzzKaldiLines checks that keys and texts are those of the lines, and that
// the times of segments increase.
func FuzzKaldiLines(f *testing.F) {
	for _, name := range []string{"text1", "text2", "segments", "segments_text"} {
		b, err := os.ReadFile("../testdata/pack/" + name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := readLines("x", bytes.NewReader(b), func(key, text string) error {
			if key == "" || strings.ContainsFunc(key, blank) || strings.TrimFunc(text, blank) != text || !bytes.Contains(b, []byte(key)) || !bytes.Contains(b, []byte(text)) {
				t.Fatalf("key %q, text %q", key, text)
			}
			if c, err := parseSegment(text); err == nil && !(c.from >= 0 && (c.to == -1 || c.to > c.from) && c.channel >= -1) {
				t.Fatalf("%q is %+v", text, c)
			}
			return nil
		})
		if err != nil && !strings.HasPrefix(err.Error(), "pack: x:") {
			t.Fatal(err)
		}
	})
}

// FuzzGroup checks that a group can be parsed back from its folder's name.
func FuzzGroup(f *testing.F) {
	for _, s := range []string{"10:500", ":10", "500:", "0.25:1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := ParseGroup(s)
		if err != nil {
			return
		}
		again, err := ParseGroup(strings.Replace(g.String(), "_", ":", 1))
		if err != nil || again.To != g.To || again.From != max(g.From, 1) {
			if g.To > 1 {
				t.Fatalf("%q is %+v, and %q of it %+v, %v", s, g, g, again, err)
			}
		}
	})
}
