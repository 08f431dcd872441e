package lines

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, n := range []string{"b.txt", "a.txt", ".h.txt", "sub/c.txt", "sub/.hidden/d.txt", "sub/deep/e.txt", "[a].txt", "back\\slash", "sub-1/f.txt"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(n), 0o700))
		require.NoError(t, os.WriteFile(n, nil, 0o600))
	}
	// Links to a parent folder, to a missing file and to a file.
	require.NoError(t, os.Symlink("..", "sub/deep/up"))
	require.NoError(t, os.Symlink("nothing", "gone.txt"))
	require.NoError(t, os.Symlink("a.txt", "link.txt"))
	abs, err := filepath.Abs("a.txt")
	require.NoError(t, err)
	for patterns, want := range map[string]string{
		"*.txt":                "[a].txt a.txt b.txt link.txt",
		"./b.txt b.txt":        "./b.txt b.txt",
		"b.txt b*":             "b.txt b.txt back\\slash",
		"[a].txt":              "[a].txt",
		"[a]*.txt":             "a.txt",
		"[!a]*.txt":            "[a].txt b.txt link.txt",
		"sub/**":               "sub/c.txt sub/deep/e.txt",
		"**/e.txt **/c.txt":    "sub/c.txt sub/deep/e.txt",
		"sub//*.txt":           "sub/c.txt",
		"sub*/*.txt":           "sub-1/f.txt sub/c.txt",
		"sub/.hid*/?.txt":      "sub/.hidden/d.txt",
		"**/**/deep/**/*.txt":  "sub/deep/e.txt",
		`b*\s*`:                "back\\slash",
		"sub/deep/up/c.txt":    "sub/deep/up/c.txt",
		abs[:len(abs)-3] + "*": abs,
	} {
		got, err := Expand(t.Context(), store.Local, strings.Fields(patterns))
		require.NoError(t, err, patterns)
		require.Equal(t, strings.Fields(want), got, patterns)
	}
	for _, p := range []string{"none", "none/*", "sub", "gone.txt", "*.jpg", "a.txt/*", "", "/", "a.txt/", "sub//", "*/"} {
		_, err := Expand(t.Context(), store.Local, []string{"a.txt", p})
		require.ErrorIs(t, err, dataset.ErrData, p)
	}
	_, err = Expand(t.Context(), store.Local, []string{"[a"})
	require.ErrorIs(t, err, dataset.ErrParam)
}

// everyLine starts a row at each line.
type everyLine struct{ within bool }

func (s *everyLine) Reset() { s.within = false }

func (s *everyLine) Split(starts []int64, b []byte, at int64) []int64 {
	for i, c := range b {
		if !s.within {
			starts = append(starts, at+int64(i))
		}
		s.within = c != '\n'
	}
	return starts
}

// TestIndex uses files larger than a chunk and more rows than a block.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	var names []string
	const rows = 200_000
	for k := range 3 {
		var b strings.Builder
		for i := range rows * (k % 2) {
			fmt.Fprintf(&b, "%d-%d\n", k, i)
		}
		names = append(names, filepath.Join(dir, fmt.Sprint(k)))
		require.NoError(t, os.WriteFile(names[k], []byte(b.String()), 0o600))
	}
	names = append(names, names[1])
	x, err := Open(t.Context(), store.Local, names, &everyLine{}, true)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	require.EqualValues(t, 2*rows, x.Len())
	b := make([]byte, 20)
	for i := int64(0); i < x.Len(); i += 17 {
		file, at, n := x.Span(i)
		require.Equal(t, 1+2*(i/rows), int64(file))
		require.NoError(t, x.Read(b[:n], file, at))
		require.Equal(t, fmt.Sprintf("1-%d\n", i%rows), string(b[:n]))
		if i%1000 == 0 {
			require.EqualError(t, x.Errorf(file, at, "%s", "bad"), fmt.Sprintf("invalid data: %s line %d (offset %d): bad", names[1], i%rows+1, at))
		}
	}
	_, err = Open(t.Context(), store.Local, append(names, filepath.Join(dir, "none")), &everyLine{}, true)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(t.Context(), store.Local, []string{dir}, &everyLine{}, true)
	require.Error(t, err)
}

// TestExpandLists: semicolons separate names and patterns.
func TestExpandLists(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a.txt", "b.txt", "x.csv"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), []byte(n), 0o600))
	}
	got, err := Expand(t.Context(), store.Local, []string{dir + "/*.txt;" + dir + "/x.csv"})
	require.NoError(t, err)
	require.Equal(t, []string{dir + "/a.txt", dir + "/b.txt", dir + "/x.csv"}, got)
	_, err = Expand(t.Context(), store.Local, []string{dir + "/*.txt;" + dir + "/none"})
	require.ErrorIs(t, err, dataset.ErrData)
}
