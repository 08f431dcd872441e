package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

const noLimit = math.MaxInt64

// hostLittle reports whether the machine, and so Tensor.Data, is little-endian.
var hostLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// pattern returns the tensor that testdata/gen/tensors/tensor_goldens.py makes
// of a dtype and a shape.
func pattern(t testing.TB, d tensor.DType, s tensor.Shape) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: d, Shape: s})
	require.NoError(t, err)
	for k := range x.Data {
		x.Data[k] = byte(k*37 + 11)
		if d == tensor.Bool {
			x.Data[k] = x.Data[k] >> 1 & 1
		}
	}
	if !hostLittle {
		for b := range slices.Chunk(x.Data, d.Size()) {
			slices.Reverse(b)
		}
	}
	return x
}

// every returns the tensors in the generator's archives.
func every(t testing.TB) (ts []tensor.Named) {
	for d := tensor.Uint8; d <= tensor.Bool; d++ {
		if d != tensor.BFloat16 {
			ts = append(ts, tensor.Named{Name: d.String(), T: pattern(t, d, tensor.Dims(2, 3))})
		}
	}
	return append(ts, tensor.Named{Name: "Größe", T: pattern(t, tensor.Uint8, tensor.Dims())})
}

// strided returns a view with the elements of x that is not dense: every second
// column of a wider tensor.
func strided(t testing.TB, x *tensor.Tensor) *tensor.Tensor {
	if x.Shape.Rank() != 2 {
		return x
	}
	h, w, size := x.Shape.At(0), x.Shape.At(1), x.DType.Size()
	wide, err := tensor.New(tensor.Desc{DType: x.DType, Shape: tensor.Dims(h, 2*w)})
	require.NoError(t, err)
	for i := range h * w {
		copy(wide.Data[2*i*size:], x.Data[i*size:(i+1)*size])
	}
	v := *wide
	v.Shape = x.Shape
	v.Strides[1] = 2
	return &v
}

func goldens(t testing.TB) map[string][]byte {
	z, err := zip.OpenReader("../testdata/goldens.zip")
	require.NoError(t, err)
	defer z.Close()
	m := map[string][]byte{}
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "npz/") {
			continue
		}
		r, err := f.Open()
		require.NoError(t, err)
		m[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
	require.Len(t, m, 4)
	return m
}

func equalAll(t testing.TB, want, got []tensor.Named) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Name, got[i].Name)
		require.Equal(t, want[i].T.Desc, got[i].T.Desc, want[i].Name)
		require.True(t, got[i].T.Dense(), want[i].Name)
		require.True(t, bytes.Equal(want[i].T.Data, got[i].T.Data), want[i].Name)
	}
}

func TestGoldens(t *testing.T) {
	g := goldens(t)
	want := every(t)
	for _, name := range []string{"npz/savez.npz", "npz/compressed.npz"} {
		got, err := Read(bytes.NewReader(g[name]), int64(len(g[name])), noLimit)
		require.NoError(t, err, name)
		equalAll(t, want, got)
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, want))
	require.Equal(t, g["npz/savez.npz"], b.Bytes())
	var views []tensor.Named
	for _, n := range want {
		views = append(views, tensor.Named{Name: n.Name, T: strided(t, n.T)})
	}
	b.Reset()
	require.NoError(t, Write(&b, views))
	require.Equal(t, g["npz/savez.npz"], b.Bytes())
	b.Reset()
	require.NoError(t, Write(&b, nil))
	require.Equal(t, g["npz/empty.npz"], b.Bytes())
	got, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), 0)
	require.NoError(t, err)
	require.Empty(t, got)

	// The checksums detect a damaged byte in any member's data.
	for _, name := range []string{"npz/savez.npz", "npz/compressed.npz"} {
		file := bytes.Clone(g[name])
		at := bytes.Index(file, []byte("\x93NUMPY")) + 130
		if at < 130 {
			at = 60
		}
		file[at] ^= 0x40
		_, err := Read(bytes.NewReader(file), int64(len(file)), noLimit)
		require.ErrorIs(t, err, tensor.ErrFormat, name)
		for i := 0; i < len(file); i += 7 {
			_, err := Read(bytes.NewReader(file), int64(i), noLimit)
			require.ErrorIs(t, err, tensor.ErrFormat, "%s cut at %d", name, i)
		}
	}
	// The limit is over all members: uint8 … bool in (2, 3) and a scalar.
	total := int64(6*(1+1+2+2+4+8+2+4+8+1) + 1)
	file := g["npz/compressed.npz"]
	_, err = Read(bytes.NewReader(file), int64(len(file)), total)
	require.NoError(t, err)
	_, err = Read(bytes.NewReader(file), int64(len(file)), total-1)
	require.ErrorIs(t, err, tensor.ErrLimit)
}

// TestZip64 compares the zip64 fields with those of zipfile, whose limit for
// them was 300 bytes instead of 2 GiB.
func TestZip64(t *testing.T) {
	golden := goldens(t)["npz/zip64_beyond_300.npz"]
	want := append(every(t), tensor.Named{Name: "large", T: pattern(t, tensor.Uint8, tensor.Dims(400))})
	var b bytes.Buffer
	require.NoError(t, write(&b, want, 300))
	require.Equal(t, golden, b.Bytes())
	got, err := Read(&section{golden}, int64(len(golden)), noLimit)
	require.NoError(t, err)
	equalAll(t, want, got)
}

// section is a ReaderAt with its own error for offsets outside its bytes.
type section struct{ b []byte }

func (s *section) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(s.b)) {
		return 0, errors.New("outside")
	}
	return bytes.NewReader(s.b).ReadAt(b, off)
}

// TestReaderAllocatesLittle reads a member whose header claims 1 GB.
func TestReaderAllocatesLittle(t *testing.T) {
	head := "{'descr': '<f8', 'fortran_order': True, 'shape': (1048576, 128)}\n"
	var z bytes.Buffer
	zw := zip.NewWriter(&z)
	f, err := zw.Create("a.npy")
	require.NoError(t, err)
	_, err = f.Write(append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(head)), 0})+head), make([]byte, 20)...))
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Read(bytes.NewReader(z.Bytes()), int64(z.Len()), noLimit)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, tensor.ErrFormat)
	require.EqualError(t, err, `tensor: npz: "a": malformed: the input ends inside the data of 1073741824 bytes at byte 95: unexpected EOF`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3<<20))
}

type brokenAt struct{}

func (brokenAt) ReadAt([]byte, int64) (int, error) { return 0, errFull }

// failAfter is a writer that fails after n bytes.
type failAfter struct{ n int }

var errFull = errors.New("full")

func (w *failAfter) Write(b []byte) (int, error) {
	if len(b) > w.n {
		return w.n, errFull
	}
	w.n -= len(b)
	return len(b), nil
}

func TestReaderError(t *testing.T) {
	_, err := Read(brokenAt{}, 100, noLimit)
	require.ErrorIs(t, err, errFull)
	require.NotErrorIs(t, err, tensor.ErrEncoding)
}

func TestWriteRefuses(t *testing.T) {
	bf, by, u8 := pattern(t, tensor.BFloat16, tensor.Dims(2)), tensor.FromBytes([]byte("x")), pattern(t, tensor.Uint8, tensor.Dims(300, 400))
	for what, c := range map[string]struct {
		ts   []tensor.Named
		want error
	}{
		"bfloat16":  {[]tensor.Named{{Name: "a", T: bf}}, tensor.ErrUnsupported},
		"bytes":     {[]tensor.Named{{Name: "a", T: by}}, tensor.ErrUnsupported},
		"twice":     {[]tensor.Named{{Name: "a", T: u8}, {Name: "a", T: u8}}, tensor.ErrUnsupported},
		"no name":   {[]tensor.Named{{T: u8}}, tensor.ErrUnsupported},
		"NUL":       {[]tensor.Named{{Name: "a\x00", T: u8}}, tensor.ErrUnsupported},
		"long name": {[]tensor.Named{{Name: strings.Repeat("a", 65532), T: u8}}, tensor.ErrUnsupported},
		"not UTF-8": {[]tensor.Named{{Name: "\xff", T: u8}}, tensor.ErrUnsupported},
		"none":      {[]tensor.Named{{Name: "a"}}, tensor.ErrDesc},
		"second":    {[]tensor.Named{{Name: "a", T: u8}, {Name: "b", T: bf}}, tensor.ErrUnsupported},
	} {
		var b bytes.Buffer
		err := Write(&b, c.ts)
		require.ErrorIs(t, err, c.want, what)
		require.Equal(t, c.want == tensor.ErrUnsupported, errors.Is(err, tensor.ErrEncoding), what)
		require.Zero(t, b.Len(), what)
	}
	require.EqualError(t, Write(io.Discard, []tensor.Named{{Name: "a", T: bf}}), `tensor: npz: "a": not supported: bfloat16 (2,) has no type in NumPy's format`)
	view, err := u8.Slice(1, 1, 399)
	require.NoError(t, err)
	for n := 0; n < 119400; n += 997 { // less than the smaller of the files
		for _, x := range []*tensor.Tensor{u8, view} {
			require.ErrorIs(t, Write(&failAfter{n}, []tensor.Named{{Name: "a", T: x}}), errFull)
		}
	}
}

// checkDir is the folder into which TestWriteForCheck writes all.npz, the
// arrays that the index of package tensor's test lists, for
// testdata/gen/tensors/tensor_check.py: go test ./tensor/npz -run
// TestWriteForCheck -args -dir DIR
var checkDir = flag.String("dir", "", "directory for TestWriteForCheck")

func TestWriteForCheck(t *testing.T) {
	dir, index := *checkDir, []byte(`[{"key": "a", "dtype": "float32", "shape": [2, 3]}]`)
	if dir != "" {
		var err error
		index, err = os.ReadFile(filepath.Join(dir, "index.json"))
		require.NoError(t, err)
	} else {
		dir = t.TempDir()
	}
	var entries []struct {
		Key   string       `json:"key"`
		DType tensor.DType `json:"dtype"`
		Shape tensor.Shape `json:"shape"`
	}
	require.NoError(t, json.Unmarshal(index, &entries))
	var ts []tensor.Named
	for _, e := range entries {
		if e.DType != tensor.BFloat16 {
			ts = append(ts, tensor.Named{Name: e.Key, T: strided(t, pattern(t, e.DType, e.Shape))})
		}
	}
	f, err := os.Create(filepath.Join(dir, "all.npz"))
	require.NoError(t, err)
	require.NoError(t, Write(f, ts))
	require.NoError(t, f.Close())
}

func FuzzRead(f *testing.F) {
	for _, b := range goldens(f) {
		f.Add(b)
	}
	const limit = 1 << 16 // small, so that a reader that ignores it fails
	f.Fuzz(func(t *testing.T, in []byte) {
		ts, err := Read(bytes.NewReader(in), int64(len(in)), limit)
		if err != nil {
			require.ErrorIs(t, err, tensor.ErrEncoding)
			return
		}
		n := int64(0)
		for _, x := range ts {
			require.True(t, x.T.Dense())
			require.Equal(t, x.T.Size(), int64(len(x.T.Data)))
			n += x.T.Size()
		}
		require.LessOrEqual(t, n, int64(limit))
		var b bytes.Buffer
		if err := Write(&b, ts); err != nil { // a name that is not UTF-8, say
			require.ErrorIs(t, err, tensor.ErrUnsupported)
			return
		}
		again, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), limit)
		require.NoError(t, err)
		equalAll(t, ts, again)
	})
}
