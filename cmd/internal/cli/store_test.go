package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bench"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
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
		"a.png": pngBytes(t, 6, 4, 1), "b.png": pngBytes(t, 7, 9, 2), "sub/broken.png": pngBytes(t, 7, 9, 2)[:45],
		"odd/x y.png": pngBytes(t, 3, 3, 6), "odd/x+y%20z#1.png": pngBytes(t, 3, 4, 7), "odd/é;&=.png": pngBytes(t, 3, 5, 8),
	}
	return tree(t, files)
}

// TestURIsLikePaths tests that commands do with the files of a store what they
// do with those of this machine: status, output and messages are equal.
func TestURIsLikePaths(t *testing.T) {
	dir := photos(t)
	repository, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	t.Chdir(dir)
	require.Equal(t, command.ExitOK, call(t, "pack", "shards", "-q", "-o", "shards", "--samples-per-file", "2", "sub/deep").status)
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "-q", "--pass-through", "packed", "odd").status)
	require.NoError(t, os.WriteFile("list.txt", []byte("IN/a.png\nIN/sub\nIN/none.png\n"), 0o666))
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--preset", "decode", "--golden", "a.png", "-o", "cat.bundle").status)
	require.Equal(t, command.ExitOK, call(t, "graph", "import", "--preset", "decode", "-o", "graph.json").status)
	require.Equal(t, command.ExitOK, call(t, "run", "-q", "--preset", "decode", "-o", "tensors", "a.png", "b.png").status)
	for _, n := range []string{"one", "two"} {
		require.NoError(t, os.MkdirAll("classes/"+n, 0o777))
		require.NoError(t, os.WriteFile("classes/"+n+"/x.png", pngBytes(t, 4, 4, 1), 0o666))
	}
	ark, err := os.ReadFile(filepath.Join(repository, "testdata", "kaldi", "float.ark"))
	require.NoError(t, err)
	scp, err := os.ReadFile(filepath.Join(repository, "testdata", "kaldi", "float.scp"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("float.ark", ark, 0o666))
	in := bucket(t, dir)
	scripts := regexp.MustCompile(`(?m)^(\S+) .*:`)
	put(in+"/feats.scp", scripts.ReplaceAll(scp, []byte("$1 "+in+"/float.ark:")))
	require.NoError(t, os.WriteFile("feats.scp", scripts.ReplaceAll(scp, []byte("$1 "+dir+"/float.ark:")), 0o666))
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
		"pack scripts":        {"pack", "shards", "-q", "-o", "OUT", "--scp", "IN/feats.scp"},
		"records verify, scp": {"records", "verify", "IN/feats.scp", "IN/float.ark"},
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

// tensorsLine matches a line in which run describes an output's tensors.
var tensorsLine = regexp.MustCompile(`(?m)^([^ ]+: )?\d+ tensors? of .* (in|on standard output)( |$)`)

// withoutTimes returns the messages of run without their durations and the
// names of folders.
func withoutTimes(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if tensorsLine.MatchString(l) {
			lines[i] = l[:strings.LastIndex(l, " in ")]
		}
		if head, _, ok := strings.Cut(l, " skipped"); ok && strings.Contains(l, "images/s") {
			lines[i] = head
		}
	}
	return strings.Join(lines, "\n")
}

// TestRunToStore tests that a run writes to a store what it writes to a folder,
// and that it goes on as it does there.
func TestRunToStore(t *testing.T) {
	dir := photos(t)
	for name, args := range map[string]string{
		"npy": "", "npz": "--format npz", "several outputs": "--preset yolo --outputs all", "triton-raw": "--format triton-raw", "triton": "--format triton --preset clip",
		"webdataset": "--format webdataset --samples-per-file 2", "recordio": "--format recordio --samples-per-file 2", "tfrecord": "--format tfrecord",
		"batches": "--preset imagenet --batch-size 3", "jobs": "-j 1",
	} {
		t.Run(name, func(t *testing.T) {
			one := func(in, out string) called {
				r := call(t, append(strings.Fields("run --preset decode "+args), "-o", out, in)...)
				r.stderr = strings.ReplaceAll(withoutTimes(r.stderr), in, "IN")
				return r
			}
			in, out := bucket(t, dir), filepath.Join(t.TempDir(), "out")
			to := bucket(t, "") + "/some folder/+%20#"
			wantCall := one(dir, out)
			require.Equal(t, command.ExitFailed, wantCall.status) // broken.png
			want := local(t, out)
			require.NotEmpty(t, want)
			for n, s := range want {
				want[n] = strings.ReplaceAll(s, dir, in)
			}
			require.Equal(t, wantCall, one(in, to))
			got := stored(to)
			require.Equal(t, len(want), len(got))
			for n := range want {
				require.True(t, want[n] == got[n], n)
			}
			// The folder with the outputs is no input.
			put(in+"/x.png", pngBytes(t, 4, 3, 9))
			require.Equal(t, command.ExitFailed, call(t, append(strings.Fields("run -q --preset decode "+args), "-o", in+"/sub/out/", in)...).status)
			within := stored(in + "/sub/out")
			r := call(t, append(strings.Fields("run -q --preset decode "+args), "-o", in+"/sub/out", in)...)
			require.Equal(t, command.ExitFailed, r.status)
			if strings.Contains(args, "webdataset") || strings.Contains(args, "record") || strings.Contains(args, "batch") {
				require.Contains(t, r.stderr, " is from an earlier run, and files of a store are not removed: want another folder")
			}
			require.Equal(t, within, stored(in+"/sub/out"))
		})
	}
}

// TestSkipExistingInStore tests that a run goes on with the outputs of an
// earlier one in a store.
func TestSkipExistingInStore(t *testing.T) {
	in, to := bucket(t, photos(t)), bucket(t, "")
	run := func(args ...string) called {
		return call(t, append([]string{"run", "--preset", "decode", "--skip-existing", "-o", to}, args...)...)
	}
	require.Equal(t, command.ExitOK, run(in+"/sub/c.png", in+"/a.png").status)
	before := objects.gets.Load()
	r := run(in+"/sub/c.png", in+"/a.png", in+"/b.png")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stderr, "1 image, 0 failed, 0 skipped, 2 done before")
	require.EqualValues(t, 1, objects.gets.Load()-before, "images that exist are not read")

	meddle(t, func(_ context.Context, op, name string) error {
		if op == "list" && strings.HasPrefix(name, to) {
			return fs.ErrPermission
		}
		return nil
	})
	r = run(in + "/a.png")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "/a.png: cannot list the outputs: "+to+": permission denied")
	meddle(t, nil)

	r = call(t, "run", "--preset", "decode", "--skip-existing=content", "-o", to, in+"/a.png")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--skip-existing=content keeps a list in the output folder, which a store cannot: want --skip-existing, or a folder")
	r = call(t, "run", "--preset", "decode", "--format", "tensorrt", "-o", to, in+"/a.png")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--format tensorrt is for programs that read files of this machine: want a folder")

	// Images of a store with a list here are read again, and compared.
	out := filepath.Join(t.TempDir(), "out")
	for range 2 {
		r = call(t, "run", "--preset", "decode", "--skip-existing=content", "-o", out, in+"/a.png")
		require.Equal(t, command.ExitOK, r.status)
	}
	require.Contains(t, r.stderr, "1 done before")

	// A batch that is not full is written again.
	to = bucket(t, "")
	batches := func(args ...string) called {
		return call(t, append([]string{"run", "--preset", "imagenet", "--batch-size", "2", "--skip-existing", "-o", to}, args...)...)
	}
	require.Equal(t, command.ExitOK, batches(in+"/a.png", in+"/b.png", in+"/sub/c.png").status)
	first := stored(to)
	require.Len(t, first, 4)
	r = batches(in+"/a.png", in+"/b.png", in+"/sub/c.png", in+"/sub.png")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stderr, "2 images, 0 failed, 0 skipped, 2 done before")
	second := stored(to)
	require.Len(t, second, 4)
	require.Equal(t, first["batch-000000.npy"], second["batch-000000.npy"])
	require.Equal(t, 2, strings.Count(second["batch-000001.jsonl"], "\n"))
}

// TestStoreErrors tests that a store that fails is reported, with the name of
// the file, and that the run goes on where it can.
func TestStoreErrors(t *testing.T) {
	in := bucket(t, photos(t))
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		name   string
		fail   string // operation and name
		err    error
		args   []string
		status int
		want   []string
	}{
		{"a file without permission", "open " + in + "/b.png", fs.ErrPermission, []string{in + "/a.png", in + "/b.png"}, command.ExitFailed,
			[]string{in + "/b.png: permission denied\n2 images, 1 failed"}},
		{"a folder without permission", "stat " + in, fs.ErrPermission, []string{in}, command.ExitFailed, []string{in + ": permission denied\n", "no images found; 1 input failed"}},
		{"a listing that fails half-way", "list " + in + "/sub", fs.ErrPermission, []string{in}, command.ExitFailed, []string{in + "/sub: permission denied\n", "7 images, 1 failed, 2 skipped"}},
		{"an output without permission", "put mem://to/b.png.npy", fs.ErrPermission, []string{"-o", "mem://to", in + "/a.png", in + "/b.png"}, command.ExitFailed,
			[]string{in + "/b.png: cannot write mem://to/b.png.npy: permission denied\n2 images, 1 failed"}},
		{"a missing bucket of the outputs", "put mem://to/b.png.npy", fs.ErrNotExist, []string{"-o", "mem://to", in + "/b.png"}, command.ExitFailed,
			[]string{in + "/b.png: cannot write mem://to/b.png.npy: file does not exist\n"}},
		{"a store that is only read", "create", fmt.Errorf("no writing: %w", errors.ErrUnsupported), []string{"-o", "mem://to", in + "/a.png"}, command.ExitUsage,
			[]string{"-o mem://to: the store is only read: want a folder, or a URI of a store that takes files"}},
		{"a shard that cannot be written", "put mem://to/data-00000.tar", fs.ErrPermission, []string{"-o", "mem://to", "--format", "webdataset", in + "/a.png"}, command.ExitFailed,
			[]string{"cannot write mem://to/data-00000.tar: permission denied\n"}},
		{"a full disk", "put mem://to/b.png.npy", syscall.ENOSPC, []string{"-j", "1", "-o", "mem://to", in + "/a.png", in + "/b.png", in + "/sub/c.png"}, command.ExitFailed,
			[]string{in + "/b.png: cannot write mem://to/b.png.npy: no space left on device\ninfer-prep: the disk is full: "}},
		{"a container that cannot be read", "open " + in + "/x.tar", fs.ErrPermission, []string{in + "/x.tar"}, command.ExitFailed, []string{in + "/x.tar: permission denied\n1 image, 1 failed"}},
		{"an unknown scheme", "", nil, []string{"s3://bucket/a.png", in + "/a.png"}, command.ExitFailed,
			[]string{"store: s3://bucket/a.png: no store for s3:// in this program: want a path, or a URI of file, ", "the program infer-prep-full has stores for s3, gs, az and hdfs: in a clone, go install -C cmd/infer-prep-full .\n2 images, 1 failed"}},
		{"a name that leads out", "", nil, []string{in + "/out"}, command.ExitFailed, []string{in + "/out/..: outside the folder " + in + "/out: "}},
		{"a name that leads out, allowed", "", nil, []string{"--allow-outside", in + "/out"}, command.ExitFailed, []string{in + "/out/../../evil.png: the name leads out of the output folder\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			put(in+"/x.tar", []byte("x"))
			if strings.HasPrefix(c.name, "a name that leads out") {
				put(in+"/out/../../evil.png", pngBytes(t, 2, 2, 2))
				defer func() {
					objects.mu.Lock()
					delete(objects.files, in+"/out/../../evil.png")
					objects.mu.Unlock()
				}()
			}
			meddle(t, func(_ context.Context, op, name string) error {
				if c.fail != "" && (op == c.fail || op+" "+name == c.fail) {
					return c.err
				}
				return nil
			})
			r := call(t, append([]string{"run", "--preset", "decode", "-o", out}, c.args...)...)
			require.Equal(t, c.status, r.status, r.stderr)
			for _, w := range c.want {
				require.Contains(t, r.stderr, w)
			}
		})
	}
}

// TestStoreLatency tests that images wait for a slow store together, whatever
// the number of jobs.
func TestStoreLatency(t *testing.T) {
	const images = 200
	in, to := bucket(t, ""), bucket(t, "")
	for i := range images {
		put(fmt.Sprintf("%s/%03d.png", in, i), pngBytes(t, 20, 20, uint8(i)))
	}
	for _, out := range []string{to, filepath.Join(t.TempDir(), "out")} {
		reads, writes := newGate(bench.RemoteReads/2), newGate(bench.RemoteReads/2)
		meddle(t, func(ctx context.Context, op, _ string) error {
			switch op {
			case "open":
				reads.wait(ctx)
			case "put":
				writes.wait(ctx)
			}
			return ctx.Err()
		})
		objects.most.Store(0)
		gets := objects.gets.Load()
		r := call(t, "run", "--preset", "decode", "--jobs", "2", "-o", out, in)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.EqualValues(t, images, objects.gets.Load()-gets, "an image is one request")
		require.True(t, reads.opened(), "%d reads at once", reads.most)
		require.Equal(t, out == to, writes.opened(), "%d writes at once", writes.most)
		require.LessOrEqual(t, objects.most.Load(), int64(bench.RemoteReads))
	}
	require.Len(t, stored(to), images)
}

// TestStoreInterrupted tests that an interrupted run does not wait for a store
// that does not answer, and says which images were done.
func TestStoreInterrupted(t *testing.T) {
	in := bucket(t, photos(t))
	report := filepath.Join(t.TempDir(), "report")
	for _, stalled := range []string{"open " + in + "/sub/c.png", "put mem://interrupted/b.png.npy", "list " + in + "/sub", "stat " + in} {
		t.Run(stalled, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			meddle(t, func(ctx context.Context, op, name string) error {
				if op+" "+name != stalled {
					return nil
				}
				time.AfterFunc(50*time.Millisecond, cancel) // the others are done
				<-ctx.Done()
				return ctx.Err()
			})
			var out, errs bytes.Buffer
			start := time.Now()
			status := Run(ctx, []string{"run", "--preset", "decode", "--report", report, "-o", "mem://interrupted", in}, strings.NewReader(""), &out, &errs)
			require.Equal(t, command.ExitInterrupted, status, errs.String())
			require.Less(t, time.Since(start), time.Minute)
			require.NotContains(t, errs.String(), "context")
			require.Contains(t, errs.String(), "infer-prep: interrupted: ")
			if strings.HasPrefix(stalled, "open") {
				require.Contains(t, readText(t, report), `{"input":"`+in+`/sub/c.png","name":"sub/c.png","status":"pending"}`)
				require.Contains(t, errs.String(), "; to go on: infer-prep run --skip-existing --preset decode")
			}
		})
	}
}

// TestRecordsInStore tests the records commands with outputs in a store.
func TestRecordsInStore(t *testing.T) {
	dir := photos(t)
	t.Chdir(dir)
	require.Equal(t, command.ExitOK, call(t, "pack", "recordio", "-q", "--pass-through", "packed", "odd").status)
	in, to := bucket(t, dir), bucket(t, "")
	ok := func(args ...string) string {
		r := call(t, args...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		return r.stdout
	}
	// Between stores, and beside the input.
	ok("records", "convert", "-q", in+"/packed.rec", "-o", to+"/data-%02d.tar", "--count", "2", "--index")
	ok("records", "convert", "-q", "packed.rec", "-o", "data-%02d.tar", "--count", "2", "--index")
	got := stored(to)
	require.Len(t, got, 4)
	for _, n := range []string{"data-00.tar", "data-01.tar"} {
		require.True(t, readText(t, n) == got[n], n)
	}
	require.Contains(t, ok("records", "verify", to+"/data-*.tar"), "webdataset, 3 records, compared with "+to+"/data-00.tar.index, "+to+"/data-01.tar.index: ok\n")
	require.Contains(t, ok("records", "ls", to+"/data-{00..01}.tar"), to+"/data-01.tar  webdataset  1")
	ok("records", "cat", "--field", "png", "-o", to+"/images", to+"/data-00.tar")
	require.Len(t, stored(to+"/images"), 2)

	// Files are not replaced without --force, and never while they are read.
	for _, args := range [][]string{
		{"records", "convert", "-q", in + "/packed.rec", "-o", to + "/data-%02d.tar", "--count", "2"},
		{"records", "cat", "--field", "png", "-o", to + "/images", to + "/data-00.tar"},
		{"records", "index", to + "/data-00.tar"},
	} {
		r := call(t, args...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, ": the file exists; --force replaces it")
		ok(append(args, "--force")...)
	}
	r := call(t, "records", "convert", "--force", in+"/packed.rec", "-o", in+"/packed.rec")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, in+"/packed.rec: the file is both input and output")

	// What is complete stays, and is named.
	meddle(t, func(_ context.Context, op, name string) error {
		if op == "put" && strings.HasSuffix(name, "/b-1.tar") {
			return fs.ErrPermission
		}
		return nil
	})
	r = call(t, "records", "convert", "-q", in+"/packed.rec", "-o", to+"/b-%d.tar", "--count", "2")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, to+"/b-1.tar: permission denied")
	require.Contains(t, r.stderr, to+"/b-0.tar: the file is complete and stays in the store")

	// Packs go on in unfinished files, which a store does not have.
	for _, args := range [][]string{{"pack", "recordio", to + "/new", "odd"}, {"pack", "shards", "-o", to, "odd"}} {
		r := call(t, args...)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, `this command writes to a folder: want "pack plan" and "pack --plan", which write to stores`)
	}
}

// TestDatasetsInStore tests that commands over datasets read them from a store.
func TestDatasetsInStore(t *testing.T) {
	files := map[string][]byte{}
	for i := range 6 {
		files[fmt.Sprintf("classes/%d/x.png", i%2)] = pngBytes(t, 8, 8, uint8(i))
		files[fmt.Sprintf("plain/%d.png", i)] = pngBytes(t, 8, 8, uint8(i))
	}
	dir := tree(t, files)
	in := bucket(t, dir)
	definition := `{"infer_prep_dataset":1,"root":{"node":"source","source":"image_folder","params":{"dir":"` + in + `/classes"}}}`
	put(in+"/dataset.json", []byte(definition))
	for _, args := range [][]string{
		{"train-bench", "--folder", in + "/classes", "--preset", "decode", "--epochs", "1", "--json"},
		{"train-bench", "--folder", in + "/plain", "--preset", "decode", "--epochs", "1", "--json"},
	} {
		r := call(t, args...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Contains(t, r.stdout, `"images":`)
	}
	var out, errs bytes.Buffer
	gets := objects.gets.Load()
	a := &command.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, BenchTime: 50 * time.Millisecond}
	require.Equal(t, command.ExitOK, execute(t.Context(), a, []string{"bench", "--preset", "decode", "--json", in}), errs.String())
	require.Contains(t, out.String(), `"skipped":1`)
	require.EqualValues(t, 9, objects.gets.Load()-gets, "a file is one request")
}
