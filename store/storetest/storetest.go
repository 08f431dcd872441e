// Package storetest checks that a store keeps the contract of store.Opener.
// Tests of stores use it, in this module and in others.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// Config describes the store under test.
type Config struct {
	Store store.Opener
	// Folder is the name of a folder, such as s3://bucket/test. It is empty or
	// does not exist yet.
	Folder string
	// Name returns the name of the file with a path below Folder. Default:
	// store.Join(Folder, path). A store whose names are escaped needs another.
	Name func(path string) string
	// Put creates a file by other means, with the path below Folder. It is for
	// a store that is only read: Run then requires that Create is unsupported.
	// Default: store.WriteFile.
	Put func(t *testing.T, path string, content []byte)
	// Mkdir creates a folder with the path below Folder. It is for a store that
	// creates a file only in a folder that exists. Default: nothing.
	Mkdir func(t *testing.T, path string)
	// NoList is for a store that cannot list: Run requires that List is
	// unsupported.
	NoList bool
	// Bad lists characters that no name may have here. Run then leaves out its
	// files with such names.
	Bad string
}

// odd are paths of files that a store must not confuse: separators of URIs,
// escapes, other scripts, characters that HTTP or a shell change.
var odd = []string{
	"odd/a b.txt", "odd/a+b.txt", "odd/a%20b.txt", "odd/100%.txt", "odd/a#b.txt", "odd/a?b.txt", "odd/a&b=c.txt", "odd/a;b.txt",
	"odd/é日本.txt", "odd/e\u0301.txt", "odd/~!@$'()[]{},^.txt", "odd/=x=/y.txt", "odd/.hidden", "odd/a:b.txt", "odd/UPPER.TXT", "odd/upper.txt",
}

// sizes are those of files whose ranges are read: none, few, around the blocks
// of stores, and more than one part of an upload has by default.
var sizes = map[string]int{"sizes/0": 0, "sizes/1": 1, "sizes/small": 1000, "sizes/block": 1 << 20, "sizes/above": 1<<20 + 1, "sizes/big": 6<<20 + 12345}

// suite is a run of Run.
type suite struct {
	Config
	files map[string][]byte // by path
}

// Run checks a store: opening, ranges, sizes, names, listing, folders, errors,
// and unless it is only read, how files appear, are replaced and aborted. It
// creates files in Folder and does not delete them.
func Run(t *testing.T, c Config) {
	s := &suite{c, map[string][]byte{}}
	if s.Name == nil {
		s.Name = func(path string) string { return store.Join(c.Folder, path) }
	}
	if s.Mkdir == nil {
		s.Mkdir = func(*testing.T, string) {}
	}
	if s.Put == nil {
		s.Put = func(t *testing.T, path string, b []byte) {
			require.NoError(t, store.WriteFile(t.Context(), s.Store, s.Name(path), b), path)
		}
	}
	s.fill(t)
	t.Run("Read", s.read)
	t.Run("Ranges", s.ranges)
	t.Run("Stat", s.stat)
	t.Run("Missing", s.missing)
	t.Run("Cancelled", s.cancelled)
	if c.NoList {
		t.Run("NoList", func(t *testing.T) {
			_, err := s.Store.List(t.Context(), c.Folder)
			require.ErrorIs(t, err, errors.ErrUnsupported)
		})
	} else {
		t.Run("List", s.list)
		t.Run("Files", s.expand)
	}
	t.Run("Folder", s.folder)
	if c.Put != nil {
		t.Run("NoCreate", func(t *testing.T) {
			_, err := s.Store.Create(t.Context(), s.Name("new"))
			require.ErrorIs(t, err, errors.ErrUnsupported)
		})
		return
	}
	t.Run("Create", s.create)
	t.Run("Replace", s.replace)
	t.Run("Abort", s.abort)
	t.Run("CreateAtOnce", s.atOnce)
}

// random returns n bytes that differ between files.
func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b)
	return b
}

// fill creates the files that are read.
func (s *suite) fill(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"sizes", "odd", "odd/=x=", "tree", "tree/sub", "tree/sub/deep", "tree2", "new"} {
		s.Mkdir(t, dir)
	}
	add := func(path string, b []byte) {
		if !strings.ContainsAny(path, s.Bad) {
			s.files[path] = b
			s.Put(t, path, b)
		}
	}
	for path, n := range sizes {
		add(path, random(n, uint64(n)))
	}
	for i, path := range odd {
		add(path, random(20+i, uint64(i)))
	}
	for _, path := range []string{"tree/b-1.txt", "tree/b-2.txt", "tree/b.txt", "tree/a.txt", "tree/sub/c.txt", "tree/sub/deep/d.txt", "tree2/e.txt"} {
		add(path, []byte(path))
	}
}

// content reads a whole file.
func (s *suite) content(t *testing.T, name string) []byte {
	t.Helper()
	b, err := store.ReadFile(t.Context(), s.Store, name, nil, 64<<20)
	require.NoError(t, err, name)
	return b
}

// same requires equal bytes without printing them.
func same(t *testing.T, want, got []byte, what string) {
	t.Helper()
	if !bytes.Equal(want, got) {
		require.Fail(t, "other bytes", "%s: %d bytes, want %d; the first difference is at %d", what, len(got), len(want), differ(want, got))
	}
}

// differ returns the index of the first difference.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func (s *suite) read(t *testing.T) {
	for path, want := range s.files {
		name := s.Name(path)
		same(t, want, s.content(t, name), name)
		f, err := s.Store.Open(t.Context(), name)
		require.NoError(t, err, name)
		require.EqualValues(t, len(want), f.Size(), name)
		if b := store.MappedBytes(f); b != nil {
			same(t, want, b, name+" in memory")
		}
		r, _ := store.NewReader(f)
		b, err := io.ReadAll(r)
		require.NoError(t, err, name)
		same(t, want, b, name+" in order")
		require.NoError(t, f.Close(), name)
	}
}

// ranges reads parts of files, from several goroutines at once.
func (s *suite) ranges(t *testing.T) {
	for path := range sizes {
		want, name := s.files[path], s.Name(path)
		f, err := s.Store.Open(t.Context(), name)
		require.NoError(t, err, name)
		size := int64(len(want))
		at := func(off, n int64) {
			t.Helper()
			b := make([]byte, n)
			got, err := f.ReadAt(b, off)
			has := max(0, min(n, size-off))
			require.EqualValues(t, has, got, "%s: %d bytes at %d: %v", name, n, off, err)
			if has < n {
				require.ErrorIs(t, err, io.EOF, "%s: %d bytes at %d", name, n, off)
			} else if err != nil {
				require.Equal(t, io.EOF, err)
				require.Equal(t, size, off+n, "%s: io.EOF before the end", name)
			}
			if has > 0 {
				same(t, want[off:off+has], b[:has], name)
			}
		}
		for _, off := range []int64{0, 1, size / 2, size - 1, size, size + 1, size + 1<<30} {
			for _, n := range []int64{0, 1, 7, 4096, size - 1, size, size + 1} {
				if off >= 0 && n > 0 {
					at(off, n)
				}
			}
		}
		_, err = f.ReadAt(make([]byte, 1), -1)
		require.Error(t, err, "%s: a negative offset", name)
		var wg sync.WaitGroup
		bad := make(chan string, 8)
		for g := range uint64(8) {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(g, 1))
				b := make([]byte, 100<<10)
				for range 20 {
					off := r.Int64N(size + 1)
					n := min(r.Int64N(int64(len(b))), size-off)
					if k, err := f.ReadAt(b[:n], off); int64(k) != n || err != nil && err != io.EOF || !bytes.Equal(b[:n], want[off:off+n]) {
						bad <- name
						return
					}
				}
			})
		}
		wg.Wait()
		close(bad)
		require.Empty(t, bad, "reads by several goroutines differ")
		require.NoError(t, f.Close())
	}
}

func (s *suite) stat(t *testing.T) {
	for path, want := range s.files {
		name := s.Name(path)
		i, err := s.Store.Stat(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, store.Info{Name: name, Size: int64(len(want)), Modified: i.Modified, Version: i.Version}, i)
	}
	if s.NoList {
		return
	}
	for _, path := range []string{"tree", "tree/sub", "tree/sub/deep"} {
		name := s.Name(path)
		for _, name := range []string{name, name + "/"} {
			i, err := s.Store.Stat(t.Context(), name)
			require.NoError(t, err, name)
			require.True(t, i.Folder, name)
			require.Equal(t, name, i.Name)
		}
		_, err := s.Store.Open(t.Context(), name)
		require.Error(t, err, "%s is a folder", name)
	}
}

// missing requires fs.ErrNotExist for names that are no file, and also for
// those that a file's or a folder's name begins with.
func (s *suite) missing(t *testing.T) {
	for _, path := range []string{"none", "none/none", "tre", "tree/b-", "tree/b-1", "tree/sub/c.tx", "odd/a", "odd/a c.txt"} {
		name := s.Name(path)
		_, err := s.Store.Open(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist, "open %s", name)
		require.Contains(t, err.Error(), name)
		_, err = s.Store.Stat(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist, "stat %s", name)
		require.Contains(t, err.Error(), name)
		if !s.NoList {
			_, err = s.Store.List(t.Context(), name)
			require.ErrorIs(t, err, fs.ErrNotExist, "list %s", name)
			require.Contains(t, err.Error(), name)
		}
	}
}

// cancelled requires that a cancelled context is noticed, or does not matter.
func (s *suite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := s.Store.Open(ctx, s.Name("sizes/big")); err == nil {
		require.NoError(t, f.Close())
	} else {
		require.ErrorIs(t, err, context.Canceled)
	}
	if _, err := s.Store.Stat(ctx, s.Name("sizes/1")); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// below returns the bases of the files and folders directly in a folder.
func (s *suite) below(folder string) (files, folders []string) {
	for p := range s.files {
		rest, ok := strings.CutPrefix(p, folder+"/")
		if !ok {
			continue
		}
		base, _, deeper := strings.Cut(rest, "/")
		if !deeper {
			files = append(files, base)
		} else if !slices.Contains(folders, base) {
			folders = append(folders, base)
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	return files, folders
}

// version requires that a file has one version, however it is asked for. A
// store that lists files without versions may open them with one.
func (s *suite) version(t *testing.T, i store.Info) {
	if i.Version == "" {
		return
	}
	j, err := s.Store.Stat(t.Context(), i.Name)
	require.NoError(t, err, i.Name)
	require.Equal(t, i.Version, j.Version, i.Name)
	f, err := s.Store.Open(t.Context(), i.Name)
	require.NoError(t, err, i.Name)
	require.NoError(t, f.Close())
	require.Equal(t, i.Version, f.(store.Described).Version(), i.Name)
}

func (s *suite) list(t *testing.T) {
	for _, folder := range []string{"sizes", "odd", "tree", "tree/sub", "tree2"} {
		files, folders := s.below(folder)
		for _, name := range []string{s.Name(folder), s.Name(folder) + "/"} {
			l, err := s.Store.List(t.Context(), name)
			require.NoError(t, err, name)
			require.True(t, slices.IsSortedFunc(l, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) }), "%s: sorted by name: %v", name, l)
			var gotFiles, gotFolders []string
			for _, i := range l {
				base := store.Base(i.Name)
				if i.Folder {
					gotFolders = append(gotFolders, base)
					continue
				}
				gotFiles = append(gotFiles, base)
				require.EqualValues(t, len(s.files[path.Join(folder, base)]), i.Size, i.Name)
				require.Equal(t, s.Name(path.Join(folder, base)), i.Name)
				s.version(t, i)
				same(t, s.files[path.Join(folder, base)], s.content(t, i.Name), i.Name)
			}
			slices.Sort(gotFiles)
			slices.Sort(gotFolders)
			require.Equal(t, files, gotFiles, name)
			require.Equal(t, folders, gotFolders, name)
		}
		names, err := store.ListNames(t.Context(), s.Store, s.Name(folder))
		require.NoError(t, err)
		require.Len(t, names, len(files)+len(folders))
	}
	_, err := s.Store.List(t.Context(), s.Name("tree/a.txt"))
	require.Error(t, err, "a file has no list")
}

// expand checks names as users give them to store.Files.
func (s *suite) expand(t *testing.T) {
	names := func(recursive bool, name string) (l []string) {
		in, err := store.Files(t.Context(), s.Store, []string{name}, recursive)
		require.NoError(t, err, name)
		for _, i := range in {
			l = append(l, strings.TrimPrefix(i.Name, s.Name("tree")))
		}
		return l
	}
	require.Equal(t, []string{"/a.txt", "/b-1.txt", "/b-2.txt", "/b.txt"}, names(false, s.Name("tree")))
	require.Equal(t, []string{"/a.txt", "/b-1.txt", "/b-2.txt", "/b.txt", "/sub/c.txt", "/sub/deep/d.txt"}, names(true, s.Name("tree")))
	require.Equal(t, []string{"/b-1.txt", "/b-2.txt"}, names(false, s.Name("tree")+`/b-\d\.txt`))
}

// folder checks store.OpenFolder: names in it open, others do not.
func (s *suite) folder(t *testing.T) {
	dir := s.Name("tree")
	f, err := store.OpenFolder(t.Context(), s.Store, dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	for _, p := range []string{"a.txt", "sub/deep/d.txt"} {
		b, err := store.ReadFile(t.Context(), f, s.Name("tree/"+p), nil, 100)
		require.NoError(t, err)
		require.Equal(t, "tree/"+p, string(b))
	}
	for _, name := range []string{s.Name("tree2/e.txt"), dir + "/../tree2/e.txt", dir + "/sub/../../tree2/e.txt"} {
		_, err = f.Open(t.Context(), name)
		require.ErrorIs(t, err, store.ErrOutside, name)
	}
}

func (s *suite) create(t *testing.T) {
	name, want := s.Name("new/big"), random(20<<20+77, 3)
	f, err := s.Store.Create(t.Context(), name)
	require.NoError(t, err)
	// Write parts of all sizes, in memory that is used again: the store must
	// not keep it.
	buf := make([]byte, 3<<20)
	for at, n := 0, 1; at < len(want); n = (n*7 + 1) % len(buf) {
		k := copy(buf[:n], want[at:])
		w, err := f.Write(buf[:k])
		require.NoError(t, err)
		require.Equal(t, k, w)
		clear(buf[:k])
		at += k
	}
	_, err = s.Store.Stat(t.Context(), name)
	require.ErrorIs(t, err, fs.ErrNotExist, "before Close")
	require.NoError(t, f.Close())
	require.NoError(t, f.Abort(), "Abort after Close")
	same(t, want, s.content(t, name), name)

	f, err = s.Store.Create(t.Context(), s.Name("new/empty"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Empty(t, s.content(t, s.Name("new/empty")))
	if !s.NoList {
		l, err := s.Store.List(t.Context(), s.Name("new"))
		require.NoError(t, err)
		require.Len(t, l, 2, "nothing temporary is left: %v", l)
	}
}

func (s *suite) replace(t *testing.T) {
	name, before, after := s.Name("new/replaced"), random(3<<20, 4), random(2<<20+5, 5)
	require.NoError(t, store.WriteFile(t.Context(), s.Store, name, before))
	old, err := s.Store.Open(t.Context(), name)
	require.NoError(t, err)
	require.NoError(t, store.WriteFile(t.Context(), s.Store, name, after))
	same(t, after, s.content(t, name), name)
	i, err := s.Store.Stat(t.Context(), name)
	require.NoError(t, err)
	require.EqualValues(t, len(after), i.Size)
	// The open file has the old content, or says that it has changed.
	b := make([]byte, 1000)
	for _, off := range []int64{0, 1 << 20, 3<<20 - 1000} {
		if n, err := old.ReadAt(b, off); err == nil || err == io.EOF {
			require.Equal(t, len(b), n)
			same(t, before[off:off+1000], b, "the file that was open")
		}
	}
	require.NoError(t, old.Close())
}

func (s *suite) abort(t *testing.T) {
	name := s.Name("new/aborted")
	for _, n := range []int{0, 100, 12 << 20} {
		f, err := s.Store.Create(t.Context(), name)
		require.NoError(t, err)
		_, err = f.Write(random(n, 6))
		require.NoError(t, err)
		require.NoError(t, f.Abort())
		require.NoError(t, f.Abort(), "Abort twice")
		_, err = s.Store.Stat(t.Context(), name)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.NoError(t, store.WriteFile(t.Context(), s.Store, name, []byte("old")))
	f, err := s.Store.Create(t.Context(), name)
	require.NoError(t, err)
	_, err = f.Write([]byte("newer"))
	require.NoError(t, err)
	require.NoError(t, f.Abort())
	require.Equal(t, "old", string(s.content(t, name)))
}

// atOnce creates a file from several goroutines: it has the content of one.
func (s *suite) atOnce(t *testing.T) {
	name := s.Name("new/at-once")
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for g := range errs {
		wg.Go(func() {
			errs[g] = store.WriteFile(t.Context(), s.Store, name, bytes.Repeat([]byte{byte('a' + g)}, 1<<20+g))
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	b := s.content(t, name)
	g := int(b[0] - 'a')
	same(t, bytes.Repeat([]byte{byte('a' + g)}, 1<<20+g), b, name)
}
