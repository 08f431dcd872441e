package recordio

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/store"
)

func nextCached(t testing.TB, c *Cached) (l []string) {
	t.Helper()
	for {
		b, err := c.Next()
		if err == io.EOF {
			return l
		}
		require.NoError(t, err)
		l = append(l, string(b))
	}
}

// TestCached tests that all epochs have the same records, from the files and
// from the cache. It also restarts epochs and reopens the cache.
func TestCached(t *testing.T) {
	step := short.Step(t, 5)
	for _, text := range []bool{false, true} {
		for _, o := range []store.Opener{store.Local, unmapped{store.Local}} {
			dir := t.TempDir()
			in := filepath.Join(dir, "in")
			for f := range 3 {
				data := write(t, fmt.Sprint("one of ", f), m, fmt.Sprint("two of ", f), "")
				if text {
					data = fmt.Appendf(nil, "one of %d\ntwo of %d", f, f)
				}
				put(t, in, fmt.Sprint(f), data)
			}
			cache := filepath.Join(dir, "cache")
			for part := range 2 {
				options := SplitOptions{Part: part, Parts: 2, Text: text, Chunk: 30}
				want := next(t, openSplit(t, o, in, options))
				require.NotEmpty(t, want)
				name := fmt.Sprintf("%s.split2.part%d", cache, part)
				open := func(made bool) *Cached {
					c, err := OpenCached(t.Context(), o, []string{in}, cache, options)
					require.NoError(t, err)
					require.Equal(t, made, c.file != nil)
					return c
				}
				c := open(false)
				require.Equal(t, want, nextCached(t, c))
				require.FileExists(t, name)
				for range 2 {
					require.NoError(t, c.Reset())
					require.Equal(t, want, nextCached(t, c))
				}
				require.NoError(t, c.Close())

				c = open(true)
				require.Equal(t, want, nextCached(t, c))
				require.NoError(t, c.Reset())
				require.Equal(t, want, nextCached(t, c))
				require.NoError(t, c.Close())

				// Reset within the first epoch.
				require.NoError(t, os.Remove(name))
				c = open(false)
				_, err := c.Next()
				require.NoError(t, err)
				require.NoError(t, c.Reset())
				require.Equal(t, want, nextCached(t, c))
				require.NoError(t, c.Close())

				// Close within the first epoch.
				require.NoError(t, os.Remove(name))
				c = open(false)
				_, err = c.Next()
				require.NoError(t, err)
				require.NoError(t, c.Close())
				require.NoFileExists(t, name)

				// A cache that is damaged or truncated is written again.
				c = open(false)
				nextCached(t, c)
				require.NoError(t, c.Close())
				good, err := os.ReadFile(name)
				require.NoError(t, err)
				for at := 0; at < len(good); at += step * (1 + at%7) {
					bad := append([]byte{}, good...)
					bad[at] ^= 1
					put(t, dir, filepath.Base(name), bad)
					require.NoError(t, open(false).Close())
					put(t, dir, filepath.Base(name), good[:at])
					require.NoError(t, open(false).Close())
				}
				put(t, dir, filepath.Base(name), good)
				require.NoError(t, open(true).Close())
			}
			// The files have another modification time.
			require.NoError(t, os.Chtimes(filepath.Join(in, "1"), time.Time{}, time.Unix(1, 0)))
			c, err := OpenCached(t.Context(), o, []string{in}, cache, SplitOptions{Parts: 2, Text: text})
			require.NoError(t, err)
			require.Nil(t, c.file)
			require.NoError(t, c.Close())
		}
	}
	_, err := OpenCached(t.Context(), store.Local, []string{"x"}, "y", SplitOptions{Lenient: true})
	require.ErrorContains(t, err, "a cache has the files' own order")
	require.Equal(t, "c", cacheName("c", 0, 1))
}

// TestCacheFormat writes the example of docs/format/splitcache.md, which must
// be a valid cache.
func TestCacheFormat(t *testing.T) {
	dir := t.TempDir()
	in := put(t, dir, "a", write(t, "abc"))
	c, err := OpenCached(t.Context(), store.Local, []string{in}, filepath.Join(dir, "cache"), SplitOptions{})
	require.NoError(t, err)
	for i := range c.print { // as in the example
		c.print[i] = 0xab
	}
	require.NoError(t, c.out.Abort())
	require.NoError(t, c.create())
	require.Equal(t, []string{"abc"}, nextCached(t, c))
	got, err := os.ReadFile(filepath.Join(dir, "cache"))
	require.NoError(t, err)
	require.Equal(t, hex.Dump(hexdoc.Read(t, "..", "splitcache")), hex.Dump(got))
	f, err := store.Local.Open(t.Context(), filepath.Join(dir, "cache"))
	require.NoError(t, err)
	ok, err := c.check(f)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, f.Close())
	require.NoError(t, c.Close())
}
