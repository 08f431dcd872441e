package modelbundle

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// bundleFile writes a bundle with a model of size bytes.
func bundleFile(t testing.TB, size int) (file string, model []byte) {
	c := testContent(t)
	model = bytes.Repeat([]byte("0123456789abcdef"), size/16)
	c.Models = []Model{{"net.onnx", "onnx", model}}
	file = filepath.Join(t.TempDir(), "a.bundle")
	require.NoError(t, os.WriteFile(file, create(t, c), 0o666))
	return file, model
}

// TestFileChangedInPlace changes a bundle file while it is open. Sections that
// were checked keep their bytes; others are errors, not a SIGBUS.
func TestFileChangedInPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows refuses to change the size of an open file")
	}
	overwrite := func(file string) error {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(make([]byte, info.Size()), 0); err != nil {
			return err
		}
		return f.Close()
	}
	for name, c := range map[string]struct {
		change func(file string) error
		want   error
	}{
		"overwritten": {overwrite, ErrDigest},
		"truncated":   {func(file string) error { return os.Truncate(file, 4096) }, io.ErrUnexpectedEOF},
		"emptied":     {func(file string) error { return os.Truncate(file, 0) }, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			file, model := bundleFile(t, 1<<20)
			b, err := openFile(file, DefaultLimits())
			require.NoError(t, err)
			checked, err := b.Section("labels")
			require.NoError(t, err)
			labels := bytes.Clone(checked)
			m, err := b.Model("")
			require.NoError(t, err)
			fresh, err := openFile(file, DefaultLimits())
			require.NoError(t, err)

			require.NoError(t, c.change(file))
			require.True(t, bytes.Equal(model, m.Data), "the checked model has other bytes")
			require.Equal(t, labels, checked)
			_, err = fresh.Model("")
			require.ErrorIs(t, err, c.want)
			var where *Error
			require.ErrorAs(t, err, &where)
			require.Equal(t, `section "model/net.onnx"`, where.Part)
			require.ErrorIs(t, fresh.VerifyDigests(context.Background()), c.want)
			require.Equal(t, testContent(t).Labels, fresh.Labels())
			require.NoError(t, fresh.Close())
			require.NoError(t, b.Close())
		})
	}
}

// BenchmarkOpenStore opens a bundle of 100 MB, and reads its model.
func BenchmarkOpenStore(b *testing.B) {
	file, _ := bundleFile(b, 100<<20)
	for _, bench := range []struct {
		name  string
		open  func(string, Limits) (*Bundle, error)
		model bool
	}{{"open", openFile, false}, {"model", openFile, true}, {"mapped", openMapped, false}, {"mapped model", openMapped, true}} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				o, err := bench.open(file, DefaultLimits())
				require.NoError(b, err)
				if bench.model {
					_, err = o.Model("")
					require.NoError(b, err)
				}
				require.NoError(b, o.Close())
			}
		})
	}
}
