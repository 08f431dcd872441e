package textfile

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/golden"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

func TestMindSpore(t *testing.T) {
	cases := golden.Load(t, "../../testdata/datasets/textfile/mindspore.json")
	t.Chdir("../../testdata/datasets/textfile")
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Compare(t, c.Specs(t, func() dataset.Node { return New() }))
		})
	}
}

// read returns the lines of files with the given contents.
func read(t *testing.T, texts ...string) (dataset.Rows, []string) {
	t.Helper()
	o := New()
	for i, x := range texts {
		o.Files = append(o.Files, filepath.Join(t.TempDir(), string(rune('a'+i))))
		require.NoError(t, os.WriteFile(o.Files[i], []byte(x), 0o600))
	}
	data, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	t.Cleanup(func() { data.Close() })
	d := data.(dataset.Rows)
	var got []string
	s := dataset.NewSample(d.Columns())
	for i := range d.Len() {
		require.NoError(t, d.Read(t.Context(), i, s))
		got = append(got, string(s.Column("text").Data))
	}
	return d, got
}

// TestLong reads lines and runs of empty lines, at and around the sizes of
// reads.
func TestLong(t *testing.T) {
	for _, n := range []int{1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		long := strings.Repeat("x", n)
		_, got := read(t, long+"\na"+strings.Repeat("\n", n)+"b\n\n"+long[1:]+"\n\n", "", "c\n", long)
		require.Equal(t, []string{long, "a", "b", long[1:], "c", long}, got)
	}
}

func TestErrors(t *testing.T) {
	require.ErrorIs(t, New().Validate(), dataset.ErrParam)
	_, err := New().Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	dir := t.TempDir()
	_, err = New(filepath.Join(dir, "*.txt")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	_, err = New(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	_, err = New(filepath.Join(dir, "[")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	name := filepath.Join(dir, "a.txt")
	require.NoError(t, os.WriteFile(name, []byte("\n\n\n"), 0o600))
	_, err = New(name).Open(t.Context(), store.Local)
	require.ErrorContains(t, err, "no line in 1 files")

	// Truncate a file that is in use.
	require.NoError(t, os.WriteFile(name, []byte("a\n\n\nb\nc\n"), 0o600))
	data, err := New(name).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer data.Close()
	require.NoError(t, os.Truncate(name, 6))
	s := dataset.NewSample(data.Columns())
	require.NoError(t, data.(dataset.Rows).Read(t.Context(), 1, s))
	require.Equal(t, name+"@4", s.Key)
	err = data.(dataset.Rows).Read(t.Context(), 2, s)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "a.txt line 5 (offset 6): the file was truncated after it was opened")
}

// The key, and nothing else.
func TestAllocations(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("reading a file allocates in js")
	}
	d, _ := read(t, strings.Repeat("a line of text\n\nanother one\n", 50))
	require.EqualValues(t, 1, golden.Allocs(t, d))
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("a\n\nb\r\n\n\nc"), 2)
	f.Add([]byte("\n\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 1 || n > 1<<10 {
			return
		}
		var want []int64
		at := int64(0)
		for _, l := range bytes.SplitAfter(b, []byte{'\n'}) {
			if len(l) > 0 && l[0] != '\n' {
				want = append(want, at)
			}
			at += int64(len(l))
		}
		var got []int64
		s := splitter{}
		for i := 0; i < len(b); i += n {
			got = s.Split(got, b[i:min(i+n, len(b))], int64(i))
		}
		require.Equal(t, want, got)
	})
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, "../../testdata/datasets/textfile", func(dir string) dataset.Source { return New(dir+"/**/*.txt", dir+"/*") })
}
