package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/manifest"
	"github.com/infer-prep/infer-prep/dataset/textfile"
	"github.com/infer-prep/infer-prep/store"
)

// counted is the local disk, which counts the files that are opened.
type counted struct {
	store.Opener
	opened atomic.Int64
}

func (c *counted) Open(ctx context.Context, name string) (store.File, error) {
	c.opened.Add(1)
	return c.Opener.Open(ctx, name)
}

// write writes a file of the past, so that later writes have another time.
func write(test *testing.T, path, content string) {
	test.Helper()
	require.NoError(test, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(test, os.WriteFile(path, []byte(content), 0o666))
	require.NoError(test, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
}

// listed returns a manifest of two images with these classes.
func listed(a, b string) string {
	const line = `{"source": "%s", "usage": "train", "annotation": [{"name": "%s"}]}` + "\n"
	return fmt.Sprintf(line+line, "a/0.jpg", a, "b/2.jpg", b)
}

// TestFileCacheIsNeverStale changes the files of a source. A run with the cache
// of the old files has the samples of a run without a cache, and opens only the
// files of the rows that changed.
func TestFileCacheIsNeverStale(test *testing.T) {
	rename := func(from, to string) func(string) error {
		return func(dir string) error {
			to := filepath.Join(dir, to)
			return errors.Join(os.MkdirAll(filepath.Dir(to), 0o777), os.Rename(filepath.Join(dir, from), to))
		}
	}
	rewrite := func(name, content string, at time.Time) func(string) error {
		return func(dir string) error {
			name := filepath.Join(dir, name)
			return errors.Join(os.WriteFile(name, []byte(content), 0o666), os.Chtimes(name, time.Time{}, at))
		}
	}
	folder := func(dir string) *dataset.Dataset { return dataset.From(imagefolder.New(dir)) }
	list := func(dir string) *dataset.Dataset { return dataset.From(manifest.New(filepath.Join(dir, "list"))) }
	text := func(dir string) *dataset.Dataset { return dataset.From(textfile.New(filepath.Join(dir, "t.txt"))) }
	old := time.Unix(1e9, 0)
	for name, c := range map[string]struct {
		of     func(dir string) *dataset.Dataset
		change func(dir string) error
		opens  int64
	}{
		"nothing":                {folder, func(string) error { return nil }, 0},
		"moved to another class": {folder, rename("a/0.jpg", "b/0.jpg"), 2}, // rows 0 and 1 are others
		"renamed":                {folder, rename("a/0.jpg", "a/00.jpg"), 1},
		"another size":           {folder, rewrite("a/0.jpg", "longer", old), 1},
		"another time":           {folder, rewrite("b/3.jpg", "three", old.Add(time.Second)), 1},
		"another label":          {folder, rename("a", "z"), 4},
		"a class becomes two":    {folder, rename("a/1.jpg", "aa/1.jpg"), 3}, // the labels of b change
		"two sources":            {func(dir string) *dataset.Dataset { return folder(dir).Concat(folder(dir).Skip(2)).Skip(1) }, rewrite("b/2.jpg", "!", old), 2},
		"side by side": {func(dir string) *dataset.Dataset {
			return dataset.NewZip(folder(dir).Rename([]string{"image", "label"}, []string{"i", "l"}), folder(dir).Skip(1))
		}, rewrite("b/2.jpg", "!", old), 4}, // two rows of two files
		"a label of a list":  {list, rewrite("list", listed("y", "x"), old.Add(1e9)), 3},
		"an image of a list": {list, rewrite("a/0.jpg", "longer", old), 2}, // and the list
		"a line":             {text, rewrite("t.txt", "one\n2 o\n", old.Add(time.Second)), -1},
	} {
		test.Run(name, func(test *testing.T) {
			dir := test.TempDir()
			for i, class := range []string{"a", "a", "b", "b"} {
				write(test, filepath.Join(dir, class, fmt.Sprintf("%d.jpg", i)), []string{"zero", "one", "two", "three"}[i])
			}
			write(test, filepath.Join(dir, "list"), listed("x", "y"))
			write(test, filepath.Join(dir, "t.txt"), "one\ntwo\n")
			file := filepath.Join(test.TempDir(), "cache")
			cached := func() []string {
				return epochs(test, c.of(dir).FileCache(file, 1<<20), dataset.Options{}, 1, 0)[0]
			}
			require.Equal(test, epochs(test, c.of(dir), dataset.Options{}, 1, 0)[0], cached())
			require.NoError(test, c.change(dir))
			want := epochs(test, c.of(dir), dataset.Options{}, 1, 0)[0]
			s := &counted{Opener: store.Local}
			got := epochs(test, c.of(dir).FileCache(file, 1<<20), dataset.Options{Store: s}, 1, 0)[0]
			require.Equal(test, want, got)
			if c.opens >= 0 {
				require.Equal(test, c.opens, s.opened.Load(), "files opened")
			}
			require.Equal(test, want, cached())
		})
	}
}

// TestFileCacheOfChangingFiles changes a file between the epochs of a run, in
// both engines, and removes one.
func TestFileCacheOfChangingFiles(test *testing.T) {
	for workers := range 3 {
		dir := test.TempDir()
		write(test, filepath.Join(dir, "a", "0.jpg"), "zero")
		write(test, filepath.Join(dir, "a", "1.jpg"), "one")
		b, err := dataset.Build(test.Context(), dataset.From(imagefolder.New(dir)).FileCache(filepath.Join(test.TempDir(), "cache"), 1<<20), dataset.Options{})
		require.NoError(test, err)
		p := pull(test, b, nil)
		if workers > 0 {
			require.NoError(test, p.Close())
			p = parallel(test, b, workers, nil)
		}
		for _, content := range []string{"zero", "zero", "longer", "zero"} {
			write(test, filepath.Join(dir, "a", "0.jpg"), content)
			for _, want := range []string{content, "one"} {
				s, err := p.Next(test.Context())
				require.NoError(test, err)
				require.Equal(test, want, string(s.Column("image").Data))
			}
			require.NoError(test, p.NextEpoch())
		}
		require.NoError(test, p.Close())
		require.NoError(test, os.Remove(filepath.Join(dir, "a", "0.jpg")))
		p = pull(test, b, nil)
		_, err = p.Next(test.Context())
		require.ErrorIs(test, err, os.ErrNotExist)
		require.NoError(test, errors.Join(p.Close(), b.Close()))
	}
}
