package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// objects is an object store in memory, whose names begin with mem://. Tests
// have buckets of their own.
var objects = &memoryStore{files: map[string][]byte{}}

func init() {
	store.Register("mem", func() (store.Opener, error) { return objects, nil })
}

// memoryStore has no folders but those of its files, as object stores.
type memoryStore struct {
	mu    sync.Mutex
	files map[string][]byte
	// before is called before each request, without the lock. An error is the
	// request's.
	before         func(ctx context.Context, op, name string) error
	gets, inFlight atomic.Int64
	most           atomic.Int64 // of inFlight
}

func (m *memoryStore) request(ctx context.Context, op, name string) error {
	n := m.inFlight.Add(1)
	for most := m.most.Load(); n > most && !m.most.CompareAndSwap(most, n); most = m.most.Load() {
	}
	defer m.inFlight.Add(-1)
	if op == "open" {
		m.gets.Add(1)
	}
	m.mu.Lock()
	before := m.before
	m.mu.Unlock()
	if before != nil {
		if err := before(ctx, op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return ctx.Err()
}

func (m *memoryStore) Open(ctx context.Context, name string) (store.File, error) {
	if err := m.request(ctx, "open", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memoryFile{bytes.NewReader(b)}, nil
}

type memoryFile struct{ *bytes.Reader }

func (f *memoryFile) Close() error { return nil }

func (m *memoryStore) Stat(ctx context.Context, name string) (store.Info, error) {
	if err := m.request(ctx, "stat", name); err != nil {
		return store.Info{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.files[name]; ok {
		return store.Info{Name: name, Size: int64(len(b))}, nil
	}
	for n := range m.files {
		if strings.HasPrefix(n, strings.TrimSuffix(name, "/")+"/") {
			return store.Info{Name: name, Folder: true}, nil
		}
	}
	return store.Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (m *memoryStore) List(ctx context.Context, folder string) ([]store.Info, error) {
	if err := m.request(ctx, "list", folder); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]store.Info{}
	folder = strings.TrimSuffix(folder, "/") + "/"
	for n, b := range m.files {
		rest, ok := strings.CutPrefix(n, folder)
		if !ok {
			continue
		}
		if first, _, deeper := strings.Cut(rest, "/"); deeper {
			found[first+"/"] = store.Info{Name: folder + first, Folder: true}
		} else {
			found[rest] = store.Info{Name: n, Size: int64(len(b))}
		}
	}
	if len(found) == 0 {
		return nil, &fs.PathError{Op: "list", Path: folder, Err: fs.ErrNotExist}
	}
	var l []store.Info
	for _, i := range found {
		l = append(l, i)
	}
	slices.SortFunc(l, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

func (m *memoryStore) Create(ctx context.Context, name string) (store.NewFile, error) {
	if err := m.request(ctx, "create", name); err != nil {
		return nil, err
	}
	return &memoryNew{ctx: ctx, m: m, name: name}, nil
}

type memoryNew struct {
	bytes.Buffer
	ctx  context.Context
	m    *memoryStore
	name string
	done bool
}

func (f *memoryNew) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	if err := f.m.request(f.ctx, "put", f.name); err != nil {
		return err
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.m.files[f.name] = bytes.Clone(f.Bytes())
	return nil
}

func (f *memoryNew) Abort() error {
	f.done = true
	return nil
}

// bucket fills a new bucket with the files of a local folder and returns its
// name, mem://….
func bucket(t *testing.T, dir string) string {
	t.Helper()
	name := "mem://" + strings.ReplaceAll(strings.ToLower(t.Name()), "/", "-") + fmt.Sprint(time.Now().UnixNano())
	if dir != "" {
		for _, f := range listFiles(t, dir) {
			b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f)))
			require.NoError(t, err)
			put(name+"/"+f, b)
		}
	}
	return name
}

func put(name string, b []byte) {
	objects.mu.Lock()
	defer objects.mu.Unlock()
	objects.files[name] = b
}

// meddle sets what happens before each request until the test ends.
func meddle(t *testing.T, before func(ctx context.Context, op, name string) error) {
	set := func(f func(context.Context, string, string) error) {
		objects.mu.Lock()
		defer objects.mu.Unlock()
		objects.before = f
	}
	set(before)
	t.Cleanup(func() { set(nil) })
}

// stored returns the files below a folder of the store, by their paths in it.
func stored(folder string) map[string]string {
	objects.mu.Lock()
	defer objects.mu.Unlock()
	found := map[string]string{}
	for n, b := range objects.files {
		if rest, ok := strings.CutPrefix(n, folder+"/"); ok {
			found[rest] = string(b)
		}
	}
	return found
}

// local returns the files below a folder of this machine, by their paths in it.
func local(t *testing.T, dir string) map[string]string {
	found := map[string]string{}
	for _, f := range listFiles(t, dir) {
		found[f] = readText(t, filepath.Join(dir, filepath.FromSlash(f)))
	}
	return found
}

// photos returns a folder of images, whose names are odd but for those that
// begin with a letter, and of other files.
func photos(t *testing.T) string {
	files := map[string][]byte{
		"notes.txt": []byte("no image"), "sub/deep/d.png": pngBytes(t, 9, 8, 4), "sub.png": pngBytes(t, 5, 5, 5), "sub/c.png": pngBytes(t, 8, 8, 3),
		"a.png": pngBytes(t, 6, 4, 1), "b.png": pngBytes(t, 7, 9, 2), "sub/broken.png": pngBytes(t, 7, 9, 2)[:60],
		"odd/x y.png": pngBytes(t, 3, 3, 6), "odd/x+y%20z#1.png": pngBytes(t, 3, 4, 7), "odd/é;&=.png": pngBytes(t, 3, 5, 8),
	}
	return tree(t, files)
}

// TestURIsLikePaths tests that commands do with the files of a store what they
// do with those of this machine: status, output and messages are equal.
func TestURIsLikePaths(t *testing.T) {
	dir := photos(t)
	t.Chdir(dir)
	require.Equal(t, exitOK, call(t, "pack", "shards", "-q", "-o", "shards", "--samples-per-file", "2", "sub/deep").status)
	require.Equal(t, exitOK, call(t, "pack", "recordio", "-q", "--pass-through", "packed", "odd").status)
	require.NoError(t, os.WriteFile("list.txt", []byte("IN/a.png\nIN/sub\nIN/none.png\n"), 0o666))
	require.Equal(t, exitOK, call(t, "bundle", "create", "--preset", "decode", "--golden", "a.png", "-o", "cat.bundle").status)
	require.Equal(t, exitOK, call(t, "graph", "import", "--preset", "decode", "-o", "graph.json").status)
	require.Equal(t, exitOK, call(t, "run", "-q", "--preset", "decode", "-o", "tensors", "a.png", "b.png").status)
	require.NoError(t, os.WriteFile("dataset.json", []byte(`{"infer_prep_dataset":1,"node":"image_folder","params":{"dir":"IN/classes"}}`), 0o666))
	for _, n := range []string{"one", "two"} {
		require.NoError(t, os.MkdirAll("classes/"+n, 0o777))
		require.NoError(t, os.WriteFile("classes/"+n+"/x.png", pngBytes(t, 4, 4, 1), 0o666))
	}
	in := bucket(t, dir)
	// A list names its files completely.
	put(in+"/list.txt", []byte(strings.ReplaceAll("IN/a.png\nIN/sub\nIN/none.png\n", "IN", in)))
	require.NoError(t, os.WriteFile("list.txt", []byte(strings.ReplaceAll("IN/a.png\nIN/sub\nIN/none.png\n", "IN", dir)), 0o666))

	run := func(args string) []string {
		return append([]string{"run", "--preset", "decode", "-o", "OUT"}, strings.Fields(args)...)
	}
	for name, args := range map[string][]string{
		"folder":              run("IN"),
		"folder, npz":         run("--format npz IN/sub"),
		"slash":               run("IN/sub/"),
		"jobs":                run("--jobs 1 IN/sub"),
		"file":                run("IN/a.png"),
		"files":               append(run("IN/b.png IN/a.png"), "IN/odd/x+y%20z#1.png", "IN/odd/x y.png"),
		"not an image":        run("IN/a.png IN/notes.txt"),
		"missing":             run("IN/a.png IN/none.png"),
		"missing only":        run("IN/none"),
		"glob":                run("IN/*.png"),
		"glob of folders":     run("IN/s*/*"),
		"glob in the middle":  run("IN/*/deep/d.png"),
		"glob of a range":     run("IN/[ab].png"),
		"glob without files":  run("IN/*.gif"),
		"glob with **":        run("IN/**/a.png"),
		"invalid glob":        run("IN/[a"),
		"overlap":             run("IN/sub IN/sub/c.png"),
		"shard":               run("IN/shards/data-00000.tar"),
		"record file":         run("IN/packed.rec"),
		"containers, glob":    run("IN/shards/*"),
		"list":                run("--files-from IN/list.txt"),
		"batches":             run("--batch-size 2 --preset imagenet IN/sub IN/a.png")[0:],
		"report":              run("--json IN/sub"),
		"strict":              run("--strict IN"),
		"webdataset":          run("--format webdataset --samples-per-file 2 IN"),
		"recordio":            run("--format recordio --samples-per-file 2 IN"),
		"tfrecord":            run("--format tfrecord IN"),
		"numbered":            run("--format onnx-test IN/sub"),
		"bundle":              {"run", "--bundle", "IN/cat.bundle", "-o", "OUT", "IN/sub"},
		"graph":               {"run", "--graph", "IN/graph.json", "-o", "OUT", "IN/a.png"},
		"missing graph":       {"run", "--graph", "IN/none.json", "-o", "OUT", "IN/a.png"},
		"missing bundle":      {"run", "--bundle", "IN/none.bundle", "-o", "OUT", "IN/a.png"},
		"bundle verify":       {"bundle", "verify", "IN/cat.bundle"},
		"bundle ls":           {"bundle", "ls", "IN/cat.bundle"},
		"bundle create":       {"bundle", "create", "--graph", "IN/graph.json", "--golden", "IN/a.png", "-o", "OUT.bundle"},
		"diff":                {"diff", "IN/tensors/a.png.npy", "IN/tensors/b.png.npy"},
		"diff, folders":       {"diff", "IN/tensors", "IN/tensors"},
		"diff, against":       {"diff", "--preset", "decode", "IN/a.png", "--against", "IN/tensors/a.png.npy"},
		"diff, missing":       {"diff", "IN/tensors/a.png.npy", "IN/none.npy"},
		"infer":               {"graph", "infer", "--preset", "decode", "IN/a.png"},
		"infer, missing":      {"graph", "infer", "--preset", "decode", "IN/none.png"},
		"records ls":          {"records", "ls", "IN/packed.rec", "IN/shards/data-00000.tar"},
		"records ls, glob":    {"records", "ls", "IN/shards/data-*.tar"},
		"records ls, missing": {"records", "ls", "IN/none.rec"},
		"records cat":         {"records", "cat", "IN/packed.rec"},
		"records cat, field":  {"records", "cat", "--field", "png", "IN/shards/data-00000.tar"},
		"records verify":      {"records", "verify", "IN/packed.rec", "IN/shards/data-00000.tar", "IN/a.png"},
		"records convert":     {"records", "convert", "-q", "IN/packed.rec", "-o", "OUT.tar"},
		"pack recordio":       {"pack", "recordio", "-q", "--recursive", "--pass-through", "OUT", "IN/sub"},
		"pack recordio list":  {"pack", "recordio", "-q", "--recursive", "--list", "OUT", "IN/odd"},
		"pack shards":         {"pack", "shards", "-q", "-o", "OUT", "IN/odd"},
		"pack shards classes": {"pack", "shards", "-q", "--classes", "-o", "OUT", "IN/classes"},
		"pack missing":        {"pack", "recordio", "OUT", "IN/none"},
	} {
		t.Run(name, func(t *testing.T) {
			one := func(where, out string) (called, map[string]string) {
				l := slices.Clone(args)
				for i := range l {
					l[i] = strings.ReplaceAll(strings.ReplaceAll(l[i], "IN", where), "OUT", out)
				}
				r := call(t, l...)
				clean := strings.NewReplacer(where, "IN", filepath.Dir(out), "OUTDIR", "no such file or directory", "file does not exist")
				r.stdout, r.stderr = clean.Replace(spaces.ReplaceAllString(r.stdout, " ")), clean.Replace(withoutTimes(r.stderr))
				files := local(t, filepath.Dir(out))
				for n, s := range files {
					if strings.HasSuffix(n, ".jsonl") {
						files[n] = clean.Replace(s)
					}
				}
				return r, files
			}
			wantCall, want := one(dir, filepath.Join(t.TempDir(), "out"))
			gotCall, got := one(in, filepath.Join(t.TempDir(), "out"))
			require.Equal(t, wantCall, gotCall)
			require.Equal(t, len(want), len(got))
			for n := range want {
				require.True(t, want[n] == got[n], n)
			}
		})
	}
}

var spaces = regexp.MustCompile(" +")

// withoutTimes returns the messages of run without their durations.
func withoutTimes(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if head, _, ok := strings.Cut(l, " skipped"); ok && strings.Contains(l, "images/s") {
			lines[i] = head
		}
	}
	return strings.Join(lines, "\n")
}

var _ = path.Base
var _ io.Reader
