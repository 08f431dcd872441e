package webdataset

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records"
)

// TestMembers: all regular files of an archive come in order with their names,
// whether they are read, partly read or not read.
func TestMembers(t *testing.T) {
	type file struct{ name, data string }
	files := []file{{"./a.png", "one"}, {"no extension", strings.Repeat("x", 2000)}, {"a.png", "twice"}, {"__x__/b.c", ""}, {strings.Repeat("long/", 60) + "name.jpg", "long"}, {".hidden", "h"}}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644}))
		_, err := io.WriteString(w, f.data)
		require.NoError(t, err)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "folder/", Typeflag: tar.TypeDir}))
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "a.png"}))
	}
	require.NoError(t, w.Close())
	for _, how := range []string{"", "gzip", "zstd"} {
		packed := b.Bytes()
		if how != "" {
			packed = pack(t, how, packed)
		}
		for part := range 3 {
			m, err := NewMembers(iotest.HalfReader(bytes.NewReader(packed)), "f")
			require.NoError(t, err)
			for _, f := range files {
				x, err := m.Next()
				require.NoError(t, err)
				require.Equal(t, f.name, x.Name)
				require.Equal(t, int64(len(f.data)), x.Size)
				require.Equal(t, "ustar", string(b.Bytes()[x.Offset+257:x.Offset+262]))
				got, err := io.ReadAll(io.LimitReader(m, x.Size*int64(part)/2))
				require.NoError(t, err)
				require.Equal(t, f.data[:len(f.data)*part/2], string(got))
				if part == 2 {
					n, err := m.Read(make([]byte, 1))
					require.Equal(t, 0, n)
					require.Equal(t, io.EOF, err)
				}
				x, err = m.Next()
				require.NoError(t, err)
				require.Equal(t, Member{"folder/", 0, x.Offset, Folder, ""}, x)
				x, err = m.Next()
				require.NoError(t, err)
				require.Equal(t, Member{"link", 0, x.Offset, Symlink, "a.png"}, x)
			}
			for range 2 {
				_, err = m.Next()
				require.Equal(t, io.EOF, err)
			}
			require.NoError(t, m.Close())
			_, err = m.Next()
			require.Error(t, err)
		}
	}
	_, err := NewMembers(strings.NewReader(xzMagic), "f")
	require.ErrorIs(t, err, records.ErrUnsupported)

	// A read error of the source is not damage; every truncation is.
	broken := errors.New("broken")
	step := short.Step(t, 11)
	for n := 0; n < b.Len()-1; n += step {
		for _, end := range []error{io.EOF, broken} {
			m, err := NewMembers(io.MultiReader(bytes.NewReader(b.Bytes()[:n]), iotest.ErrReader(end)), "f")
			for err == nil {
				if _, err = m.Next(); err == nil {
					_, err = io.Copy(io.Discard, m)
				}
			}
			if end == broken {
				require.ErrorIs(t, err, broken, "%d bytes", n)
				continue
			}
			require.ErrorIs(t, err, records.ErrCorrupt, "%d bytes", n)
			_, again := m.Next()
			require.Equal(t, err, again)
		}
	}
}
