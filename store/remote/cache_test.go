package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/filelock"
	"github.com/infer-prep/infer-prep/store"
)

// folderSize returns the sum of the sizes of the cache's files, and their
// number.
func folderSize(t testing.TB, dir string) (sum int64, n int) {
	t.Helper()
	in, err := os.ReadDir(filepath.Join(dir, "blocks"))
	require.NoError(t, err)
	for _, e := range in {
		if i, err := e.Info(); err == nil {
			sum += i.Size()
			n++
		}
	}
	return sum, n
}

// TestCache: what was read is not received again, also by another process, as
// long as it has not changed.
func TestCache(t *testing.T) {
	for _, size := range []int{1000, small, 5<<20 + 77} {
		s, dir, want := newService(), t.TempDir(), content(size)
		s.put("mem://a", want)
		for i := range 3 { // each time as a new process
			r := open(t, s, 0, Options{Cache: dir})
			before := s.count()
			b, err := store.ReadFile(t.Context(), r, "mem://a", nil, -1)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, b))
			st := r.Stats()
			if i == 0 {
				require.GreaterOrEqual(t, st.Received, int64(size))
				continue
			}
			require.EqualValues(t, 1, st.Received, "one byte, for the version")
			require.Equal(t, before+1, s.count())
			require.Zero(t, st.CacheMisses)
			blocks := 1
			if size > small {
				blocks = (size + cachedBlock - 1) / cachedBlock
			}
			require.EqualValues(t, blocks, st.CacheHits)
		}
		sum, n := folderSize(t, dir)
		t.Logf("%d bytes: %d bytes in %d files", size, sum, n)
		want = content(size + 1)
		s.put("mem://a", want)
		r := open(t, s, 0, Options{Cache: dir})
		b, err := store.ReadFile(t.Context(), r, "mem://a", nil, -1)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, b), "the new content")
	}
}

// located is a service at an address.
type located struct {
	*service
	at string
}

func (l located) Service() string { return l.at }

// TestCacheServices: objects of two services with equal names, versions and
// sizes are different.
func TestCacheServices(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		for i, at := range []string{"https://one", "https://two", "https://one account"} {
			s := newService()
			want := bytes.Repeat([]byte{byte(i)}, 2<<20)
			s.put("s3://bucket/a", want)
			r := New(located{s, at}, Options{Cache: dir})
			b, err := store.ReadFile(t.Context(), r, "s3://bucket/a", nil, -1)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, b), at)
		}
	}
}

// TestCacheShared: a folder that others can write, and links in it, are not
// used.
func TestCacheShared(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("modes and owners mean other things here")
	}
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("12345678"), 0o600))
	for name, c := range map[string]struct {
		prepare func(dir string) error
		want    string
	}{
		"others write":     {func(dir string) error { return os.Chmod(dir, 0o777) }, "the mode is"},
		"the group writes": {func(dir string) error { return os.Chmod(dir, 0o770) }, "the mode is"},
		"others read blocks": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "blocks"), 0o700), os.Chmod(filepath.Join(dir, "blocks"), 0o755))
		}, "the mode is"},
		"lock is a link":       {func(dir string) error { return os.Symlink(victim, filepath.Join(dir, "lock")) }, "no link"},
		"lock has two names":   {func(dir string) error { return os.Link(victim, filepath.Join(dir, "lock")) }, "2 names"},
		"lock is a folder":     {func(dir string) error { return os.Mkdir(filepath.Join(dir, "lock"), 0o700) }, "want a regular file"},
		"blocks is a link":     {func(dir string) error { return os.Symlink(filepath.Dir(victim), filepath.Join(dir, "blocks")) }, "no link"},
		"the folder is a link": {func(dir string) error { return errors.Join(os.Remove(dir), os.Symlink(filepath.Dir(victim), dir)) }, "no link"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, c.prepare(dir))
			var warned []error
			s := newService()
			s.put("mem://a", content(100))
			r := New(s, Options{Cache: dir, OnWarning: func(err error) { warned = append(warned, err) }})
			b, err := store.ReadFile(t.Context(), r, "mem://a", nil, -1)
			require.NoError(t, err)
			require.Equal(t, content(100), b)
			require.Len(t, warned, 1)
			require.ErrorContains(t, warned[0], c.want)
			require.ErrorContains(t, warned[0], dir)
			kept, err := os.ReadFile(victim)
			require.NoError(t, err)
			require.Equal(t, "12345678", string(kept))
		})
	}
}

// TestCachePlain: objects without a version are not stored.
func TestCachePlain(t *testing.T) {
	s, dir := newService(), t.TempDir()
	s.plain = true
	s.put("mem://a", content(3<<20))
	s.put("mem://b", content(3))
	r := open(t, s, 0, Options{Cache: dir})
	for _, name := range []string{"mem://a", "mem://b"} {
		_, err := store.ReadFile(t.Context(), r, name, nil, -1)
		require.NoError(t, err)
	}
	sum, _ := folderSize(t, dir)
	require.Zero(t, sum)
}

// TestCacheDamage: a damaged file is not used, and replaced.
func TestCacheDamage(t *testing.T) {
	s, dir, want := newService(), t.TempDir(), content(4<<20)
	s.put("mem://a", want)
	read := func() Stats {
		r := open(t, s, 0, Options{Cache: dir})
		b, err := store.ReadFile(t.Context(), r, "mem://a", nil, -1)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, b))
		return r.Stats()
	}
	read()
	paths, err := filepath.Glob(filepath.Join(dir, "blocks", "*"))
	require.NoError(t, err)
	require.Len(t, paths, 4<<20/cachedBlock+1)
	for i, path := range paths {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		switch i % 5 {
		case 0:
			b[len(b)-1] ^= 1
		case 1:
			b = b[:len(b)-1]
		case 2:
			b = append(b, 0)
		case 3:
			b = nil
		case 4:
			b, err = os.ReadFile(paths[0]) // that of another block
			require.NoError(t, err)
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
	require.GreaterOrEqual(t, read().Received, int64(len(want)))
	read() // the first blocks came with Open, which looked for no files
	require.EqualValues(t, 1, read().Received)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lock"), []byte("\xff\xff\xff\xff\xff\xff\xff\xff"), 0o600))
	s.put("mem://a", want)
	read()
	require.EqualValues(t, 1, read().Received)
}

// TestCacheEviction: the folder stays within its bound, and what was used least
// recently goes first.
func TestCacheEviction(t *testing.T) {
	s, dir := newService(), t.TempDir()
	o := Options{Cache: dir, CacheSize: 2e6}
	r := open(t, s, 0, o)
	read := func(i int) {
		b, err := store.ReadFile(t.Context(), r, fmt.Sprint("mem://", i), nil, -1)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content(100000+i), b))
		sum, _ := folderSize(t, dir)
		require.LessOrEqual(t, sum, o.CacheSize)
	}
	for i := range 60 {
		s.put(fmt.Sprint("mem://", i), content(100000+i))
		read(i)
		read(0)                          // stays, since it is always used
		time.Sleep(2 * time.Millisecond) // times of files are coarse
	}
	sum, _ := folderSize(t, dir)
	require.Greater(t, sum, o.CacheSize/2)
	before := r.Stats()
	read(0)
	read(59)
	require.EqualValues(t, before.Received+2, r.Stats().Received)
	read(1)
	require.Greater(t, r.Stats().Received, before.Received+100000)

	// A block above the bound is not stored.
	r.cache.limit = 1000
	s.put("mem://big", content(50000))
	_, err := store.ReadFile(t.Context(), r, "mem://big", nil, -1)
	require.NoError(t, err)
	require.True(t, r.cache.on())
}

// TestCacheUnusable: a folder that cannot be used is left out, with one
// warning, and reading goes on.
func TestCacheUnusable(t *testing.T) {
	s, want := newService(), content(3<<20)
	s.put("mem://a", want)
	for name, prepare := range map[string]func(t *testing.T, dir string, r func() *Store) *Store{
		"a file": func(t *testing.T, dir string, r func() *Store) *Store {
			require.NoError(t, os.WriteFile(dir, nil, 0o600))
			return r()
		},
		"removed later": func(t *testing.T, dir string, r func() *Store) *Store {
			s := r()
			require.NoError(t, os.RemoveAll(dir))
			return s
		},
		"replaced later": func(t *testing.T, dir string, r func() *Store) *Store {
			s := r()
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "blocks")))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "blocks"), nil, 0o600))
			return s
		},
		"full disk": func(t *testing.T, dir string, r func() *Store) *Store {
			full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
			if err != nil {
				t.Skip("no device that is always full:", err)
			}
			t.Cleanup(func() { require.NoError(t, full.Close()) })
			s := r()
			s.cache.lock = full // the sum cannot be written
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			var warnings atomic.Int64
			dir := filepath.Join(t.TempDir(), "cache")
			r := prepare(t, dir, func() *Store {
				return open(t, s, 0, Options{Cache: dir, OnWarning: func(err error) {
					warnings.Add(1)
					if !strings.HasPrefix(err.Error(), "remote: the cache folder "+dir+" is not used from now on: ") {
						t.Error(err)
					}
				}})
			})
			for range 2 {
				b, err := store.ReadFile(t.Context(), r, "mem://a", nil, -1)
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, b))
			}
			require.EqualValues(t, 1, warnings.Load())
			require.False(t, r.cache.on())
		})
	}
}

// TestCacheLocked: a process that holds the lock delays others a little, and
// fails none.
func TestCacheLocked(t *testing.T) {
	if !filelock.Works {
		t.Skip("no locks here")
	}
	s, dir, want := newService(), t.TempDir(), content(1000)
	s.put("mem://a", want)
	r := open(t, s, 0, Options{Cache: dir})
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, filelock.Lock(f))
	b, err := store.ReadFile(t.Context(), r, "mem://a", nil, -1)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, b))
	require.True(t, r.cache.on())
	_, n := folderSize(t, dir)
	require.Zero(t, n)
	require.NoError(t, f.Close())
}

// TestCacheProcesses: several processes share a folder that holds a quarter of
// what they read. All read what is right, and the folder stays within its
// bound.
func TestCacheProcesses(t *testing.T) {
	const variable = "INFER_PREP_TEST_CACHE_FOLDER"
	const limit = 6 << 20
	s := newService()
	for i := range 24 {
		s.put(fmt.Sprint("mem://", i), content(1<<20+i))
	}
	read := func(dir string, seed int) error {
		r := New(s, Options{Cache: dir, CacheSize: limit, Memory: 1 << 20, OnWarning: func(err error) { panic(err) }})
		for k := range 120 {
			i := (k*7 + seed*5 + k*k%11) % 24
			b, err := store.ReadFile(t.Context(), r, fmt.Sprint("mem://", i), nil, -1)
			if err != nil {
				return err
			}
			if !bytes.Equal(b, content(1<<20+i)) {
				return fmt.Errorf("object %d differs", i)
			}
		}
		fmt.Printf("%+v\n", r.Stats())
		return nil
	}
	if dir := os.Getenv(variable); dir != "" { // a child
		require.NoError(t, read(dir, os.Getpid()))
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip("no processes here:", err)
	}
	dir := t.TempDir()
	var children []*exec.Cmd
	var outputs [3]bytes.Buffer
	for i := range outputs {
		c := exec.Command(exe, "-test.run=^TestCacheProcesses$")
		c.Env = append(os.Environ(), variable+"="+dir)
		c.Stdout, c.Stderr = &outputs[i], &outputs[i]
		if err := c.Start(); err != nil {
			if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
				t.Skip("no processes here:", err)
			}
			require.NoError(t, err)
		}
		children = append(children, c)
	}
	stop, watched := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			select {
			case <-stop:
				watched <- most
				return
			case <-time.After(2 * time.Millisecond):
				if in, err := os.ReadDir(filepath.Join(dir, "blocks")); err == nil {
					var sum int64
					for _, e := range in {
						if i, err := e.Info(); err == nil {
							sum += i.Size()
						}
					}
					most = max(most, sum)
				}
			}
		}
	}()
	for i, c := range children {
		require.NoError(t, c.Wait(), "%s", &outputs[i])
		t.Logf("process %d: %s", i, strings.SplitN(outputs[i].String(), "\n", 2)[0])
		require.NotContains(t, outputs[i].String(), "CacheHits:0 ")
	}
	close(stop)
	most := <-watched
	t.Logf("the folder had at most %d bytes", most)
	// The watcher does not see all files at one moment: it can count a block
	// that was evicted and the one that replaced it.
	require.LessOrEqual(t, most, int64(limit+3*(small+headSize)))
	sum, _ := folderSize(t, dir)
	require.LessOrEqual(t, sum, int64(limit))
}

func TestOptions(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "7": 7, "7B": 7, "1KB": 1000, "2 MB": 2e6, "10GB": 10e9, "1TB": 1e12, "3KiB": 3072, "64mib": 64 << 20, "1GiB": 1 << 30, "2TiB": 2 << 40} {
		n, err := parseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "GB", "-1", "1.5GB", "1XB", "9999999999GB", "99999999999999999999"} {
		_, err := parseSize(text)
		require.ErrorContains(t, err, "size ", text)
	}
	o, err := Options{}.withEnv()
	require.NoError(t, err)
	require.Equal(t, Options{Attempts: 6, Stall: 30 * time.Second, Memory: 64 << 20, CacheSize: 10e9}, o)
	for _, c := range []struct{ name, value, want string }{
		{"STORE_ATTEMPTS", "0", "remote: attempts, or INFER_PREP_STORE_ATTEMPTS: want 1 to 100"},
		{"STORE_ATTEMPTS", "x", "want 1 to 100"},
		{"STORE_STALL", "30", `remote: INFER_PREP_STORE_STALL="30": want a duration of at least 1ms, such as 30s`},
		{"STORE_MEMORY", "1KB", `remote: INFER_PREP_STORE_MEMORY="1KB": want a size of at least 1MiB, such as 256MiB`},
		{"CACHE_SIZE", "much", `remote: INFER_PREP_CACHE_SIZE="much": want a size of at least 1MB, such as 50GB`},
	} {
		t.Setenv("INFER_PREP_"+c.name, c.value)
		_, err := New(newService(), Options{}).Open(t.Context(), "mem://a")
		require.ErrorContains(t, err, c.want)
		require.NoError(t, os.Unsetenv("INFER_PREP_"+c.name))
	}
	for name, value := range map[string]string{"STORE_ATTEMPTS": "3", "STORE_STALL": "1m", "STORE_MEMORY": "128MiB", "CACHE_SIZE": "2GB", "CACHE": "/nowhere"} {
		t.Setenv("INFER_PREP_"+name, value)
	}
	o, err = Options{}.withEnv()
	require.NoError(t, err)
	require.Equal(t, Options{Attempts: 3, Stall: time.Minute, Memory: 128 << 20, CacheSize: 2e9, Cache: "/nowhere"}, o)
	_, err = Options{Stall: -1}.withEnv()
	require.ErrorContains(t, err, "remote: options: STORE_STALL is -1: want a duration")
}

func FuzzSize(f *testing.F) {
	f.Add("10GB")
	f.Add("64 MiB")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := parseSize(text); err == nil && n < 0 {
			t.Errorf("%q is %d", text, n)
		}
	})
}
