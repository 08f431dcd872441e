package mnist

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../../testdata/datasets/mnist/"

func TestAsReferences(t *testing.T) {
	for _, reference := range []string{"torchvision", "mindspore"} {
		n := sourcetest.Golden(t, testdata+reference+".json")
		t.Logf("%s: %d rows", reference, n)
	}
}

// TestAllocsPacked reads packed files, which are in memory.
func TestAllocsPacked(t *testing.T) {
	require.Zero(t, sourcetest.Allocs(t, &KMNIST{testdata + "kmnist", "all"}))
}

func TestValidate(t *testing.T) {
	for _, o := range []dataset.Node{
		&MNIST{"x", ""}, &MNIST{"x", "valid"}, &Fashion{"x", "Train"}, &KMNIST{"x", "t10k"}, &EMNIST{"x", "", "train"}, &EMNIST{"x", "letters", "x"},
	} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func idx(axes ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(axes))}
	for _, a := range axes {
		b = append(b, byte(a>>24), byte(a>>16), byte(a>>8), byte(a))
	}
	return b
}

func packed(t testing.TB, b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return z.Bytes()
}

func TestBadFiles(t *testing.T) {
	labels := append(idx(2), 3, 9)
	images := append(idx(2, 2, 3), make([]byte, 12)...)
	for _, c := range []struct {
		name           string
		labels, images []byte
		want           string
	}{
		{"good", labels, images, ""},
		{"no labels", nil, images, "o such file"},
		{"no images", labels, nil, "o such file"},
		{"empty", labels, []byte{}, "images-idx3-ubyte at byte 0: the data ends"},
		{"cut header", labels, images[:13], "images-idx3-ubyte at byte 13: the data ends"},
		{"cut data", labels, images[:27], "at byte 4: 11 bytes of data, want [2 2 3] as the header states"},
		{"more data", labels, append(bytes.Clone(images), 0), "at byte 4: 13 bytes of data, want [2 2 3] as the header states"},
		{"floats", labels, append([]byte{0, 0, 13, 3}, images[4:]...), "at byte 0: 00000d03, want 00000803"},
		{"swapped", images, labels, "at byte 0: 00000803, want 00000801"},
		{"a million million images", labels, append(idx(1_000_000, 1_000, 1_000), 1, 2, 3), "want [1000000 1000 1000] as the header states"},
		{"the largest numbers", labels, append(idx(1<<32-1, 1<<32-1, 1<<32-1), 1, 2, 3), "want [4294967295 4294967295 4294967295] as the header states"},
		{"an overflow to the right size", labels, append(idx(1<<31, 1<<31, 4), 1, 2, 3), "as the header states"},
		{"no rows", labels, idx(0, 28, 28), "axis 0 has size 0"},
		{"no height", labels, idx(2, 0, 28), "axis 1 has size 0"},
		{"another number", labels, append(idx(1, 3, 4), make([]byte, 12)...), "at byte 4: 1 images, want 2, the number of labels"},
		{"a label too large", append(idx(2), 3, 10), images, "labels-idx1-ubyte at byte 9: label 10, want one of 10 classes"},
		{"cut labels", labels[:9], images, "labels-idx1-ubyte at byte 4: 1 bytes of data, want [2] as the header states"},
	} {
		for _, gz := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, packed: %v", c.name, gz), func(t *testing.T) {
				dir := t.TempDir()
				for name, b := range map[string][]byte{"train-labels-idx1-ubyte": c.labels, "train-images-idx3-ubyte": c.images} {
					if b == nil {
						continue
					}
					if gz {
						b = packed(t, b)
						name += ".gz"
					}
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
				}
				d, err := New(dir).Open(t.Context(), store.Local)
				if c.want == "" {
					require.NoError(t, err)
					require.NoError(t, d.Close())
					sourcetest.Run(t, New(dir))
					return
				}
				require.Error(t, err)
				if !gz {
					require.ErrorContains(t, err, c.want)
				}
				if c.labels != nil && c.images != nil {
					require.ErrorIs(t, err, dataset.ErrData)
				}
			})
		}
	}
}

// TestPackedClaims opens a small gzip whose header claims 100 GB, and one that
// claims over 1 GB.
func TestPackedClaims(t *testing.T) {
	for _, h := range [][]byte{idx(1_000_000, 1000, 100), idx(1<<31, 1, 1)} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train-labels-idx1-ubyte"), append(idx(1), 1), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train-images-idx3-ubyte.gz"), packed(t, append(h, make([]byte, 3<<20)...)), 0o600))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := New(dir).Open(t.Context(), store.Local)
		require.ErrorIs(t, err, dataset.ErrData)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "%v", err)
	}
}

// TestCutLater truncates a file after opening: that is an error of the row.
func TestCutLater(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "train-labels-idx1-ubyte"), append(idx(2), 1, 2), 0o600))
	name := filepath.Join(dir, "train-images-idx3-ubyte")
	require.NoError(t, os.WriteFile(name, append(idx(2, 2, 3), make([]byte, 12)...), 0o600))
	d, err := New(dir).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, os.Truncate(name, 25))
	s := dataset.NewSample(d.Columns())
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 0, s))
	err = d.(dataset.Rows).Read(t.Context(), 1, s)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "at byte 25")
}

func FuzzOpen(f *testing.F) {
	labels := append(idx(2), 3, 9)
	images := append(idx(2, 2, 3), make([]byte, 12)...)
	f.Add(labels, images, false)
	f.Add(packed(f, labels), packed(f, images), true)
	f.Add(append(idx(2), 3, 200), append(idx(1<<31, 1<<31, 4), 1), false)
	f.Fuzz(func(t *testing.T, labels, images []byte, gz bool) {
		dir, end := t.TempDir(), ""
		if gz {
			end = ".gz"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train-labels-idx1-ubyte"+end), labels, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train-images-idx3-ubyte"+end), images, 0o600))
		d, err := New(dir).Open(t.Context(), store.Local)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		defer d.Close()
		r := d.(dataset.Rows)
		s := dataset.NewSample(d.Columns())
		for i := range min(r.Len(), 100) {
			require.NoError(t, r.Read(t.Context(), i, s))
		}
	})
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata+"mnist", func(dir string) dataset.Source { return &MNIST{dir, "all"} })
	sourcetest.Store(t, testdata+"kmnist", func(dir string) dataset.Source { return &KMNIST{dir, "all"} }) // packed
}
