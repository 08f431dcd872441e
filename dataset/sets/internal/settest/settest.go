// Package settest checks sources of published sets, for their tests.
package settest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/store"
)

// Dir is the folder of the small sets, from the package of a source.
const Dir = "../../../testdata/datasets/"

// Check compares a set with what the references read, and reads it through a
// store in memory. fresh returns the source of a folder.
func Check(t *testing.T, set string, fresh func(dir string) dataset.Source, references ...string) {
	t.Helper()
	for _, r := range references {
		n := sourcetest.Golden(t, Dir+set+"/"+r+".json")
		require.Positive(t, n)
		t.Logf("%s: %d rows", r, n)
	}
	sourcetest.Store(t, Dir+set, fresh)
}

// Refuses opens a set with a changed file and requires an error of the data
// that contains want.
func Refuses(t *testing.T, set, file, content, want string, fresh func(dir string) dataset.Source) {
	t.Helper()
	_, err := fresh(Dir+set).Open(t.Context(), &changed{store.Local, file, []byte(content)})
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, want)
}

// Mutate opens a set with mutations of a file: some of its truncations, and
// changes of some bytes. Every error must be one of the data, or one of the
// system for a file whose name was changed.
func Mutate(t *testing.T, set, file string, fresh func(dir string) dataset.Source) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Dir+set, filepath.FromSlash(file)))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, uint64(len(b))))
	failed, rounds := 0, short.Rounds(t, 120, 20)
	for k := range rounds {
		m := bytes.Clone(b)
		switch i := r.IntN(len(m)); k % 4 {
		case 0:
			m = m[:i]
		case 1:
			m[i] ^= 1 << r.IntN(8)
		case 2:
			m[i] = byte(r.IntN(256))
		case 3:
			m = append(m[:i], m[min(len(m), i+1+r.IntN(9)):]...)
		}
		if !Open(t, set, file, m, fresh) {
			failed++
		}
	}
	t.Logf("%s: %d of %d changes were refused", file, failed, rounds)
}

// Fuzz fuzzes a file of a set.
func Fuzz(f *testing.F, set, file string, fresh func(dir string) dataset.Source) {
	b, err := os.ReadFile(filepath.Join(Dir+set, filepath.FromSlash(file)))
	require.NoError(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { Open(t, set, file, b, fresh) })
}

// Open opens a set with another content of a file and reads its first rows. It
// reports whether the set could be opened.
func Open(t *testing.T, set, file string, content []byte, fresh func(dir string) dataset.Source) bool {
	check := func(err error) bool {
		// A changed name of a file is an error of the system.
		var system *fs.PathError
		if err != nil && !errors.As(err, &system) && !errors.Is(err, store.ErrOutside) {
			require.ErrorIs(t, err, dataset.ErrData)
		}
		return err == nil
	}
	d, err := fresh(Dir+set).Open(t.Context(), &changed{store.Local, file, content})
	if !check(err) {
		return false
	}
	defer d.Close()
	rows := d.(dataset.Rows)
	s := dataset.NewSample(d.Columns())
	for i := range min(rows.Len(), 20) {
		if !check(rows.Read(t.Context(), i, s)) {
			continue
		}
		if c, ok := d.(dataset.Classed); ok {
			_, err := c.Class(i)
			require.NoError(t, err)
		}
	}
	return true
}

// changed is a store with another content of the file whose name has an end.
type changed struct {
	store.Opener
	end     string
	content []byte
}

func (c *changed) is(name string) bool {
	return strings.HasSuffix(filepath.ToSlash(name), "/"+c.end)
}

func (c *changed) Open(ctx context.Context, name string) (store.File, error) {
	if c.is(name) {
		return &file{bytes.NewReader(c.content)}, nil
	}
	return c.Opener.Open(ctx, name)
}

// TooLarge opens a set whose files with an extension say that they have size
// bytes each, and requires the error of lists that are too large together.
func TooLarge(t *testing.T, set, extension string, size int64, fresh func(dir string) dataset.Source) {
	t.Helper()
	_, err := fresh(Dir+set).Open(t.Context(), &swollen{store.Local, extension, size})
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorIs(t, err, store.ErrTooLarge)
	require.ErrorContains(t, err, fmt.Sprintf("%d bytes after ", size))
}

// swollen is a store with another size of some files.
type swollen struct {
	store.Opener
	extension string
	size      int64
}

func (s *swollen) Open(ctx context.Context, name string) (store.File, error) {
	f, err := s.Opener.Open(ctx, name)
	if err == nil && path.Ext(name) == s.extension {
		f = sized{f, s.size}
	}
	return f, err
}

type sized struct {
	store.File
	size int64
}

func (s sized) Size() int64 { return s.size }

type file struct{ *bytes.Reader }

func (*file) Close() error { return nil }
