package kaldi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

var golden = filepath.Join("..", "..", "testdata", "kaldi")

// row describes an object as the reference reads it.
type row struct {
	File, Key, DType string
	Shape            []int
	SHA256           string
	Type             string
	Convert          bool // set Options.DType
	Rate             int
}

func (r row) options(t testing.TB) Options {
	o := Options{Name: r.File}
	switch r.Type {
	case "matrix":
		o.Type = Matrix
	case "vector":
		o.Type = Vector
	case "ints":
		o.Type = IntVector
	}
	if r.Convert {
		d, err := tensor.ParseDType(r.DType)
		require.NoError(t, err)
		o.DType = d
	}
	return o
}

type expected struct {
	Rows   []row
	Ranges []struct {
		Range   string
		Shape   []int
		SHA256  string
		Refused bool
	}
}

func load(t testing.TB) (e expected) {
	b, err := os.ReadFile(filepath.Join(golden, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &e))
	return e
}

func file(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join(golden, name))
	require.NoError(t, err)
	return b
}

func digest(t *tensor.Tensor) string {
	h := sha256.New()
	if err := tensor.WriteRaw(h, t); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}

type object struct {
	h Header
	t *tensor.Tensor
}

func readAll(r *Reader) (l []object, err error) {
	for {
		h, err := r.Next()
		if err != nil {
			return l, err
		}
		x, err := r.Read()
		if err != nil {
			return l, err
		}
		l = append(l, object{h, x})
	}
}

// plain hides Seek and Size.
type plain struct{ io.Reader }

// TestReference reads the files of the references, from memory and from a
// stream. The objects must equal those that the references read. It also reads
// headers without data.
func TestReference(t *testing.T) {
	type group struct {
		file    string
		convert bool
	}
	groups := map[group][]row{}
	e := load(t)
	for _, r := range e.Rows {
		g := group{r.File, r.Convert}
		groups[g] = append(groups[g], r)
	}
	n := 0
	for g, rows := range groups {
		o := rows[0].options(t)
		b := file(t, g.file)
		got, err := readAll(NewReader(bytes.NewReader(b), o))
		require.Equal(t, io.EOF, err, o.Name)
		require.Len(t, got, len(rows))
		streamed, err := readAll(NewReader(plain{iotest.HalfReader(bytes.NewReader(b))}, o))
		require.Equal(t, io.EOF, err, o.Name)
		for i, want := range rows {
			x := got[i]
			where := fmt.Sprintf("%s %s %v", want.File, want.Key, want.DType)
			require.Equal(t, want.Key, x.h.Key, where)
			require.Equal(t, want.DType, x.t.DType.String(), where)
			require.Equal(t, want.Shape, x.t.Shape.Slice(), where)
			require.Equal(t, want.SHA256, digest(x.t), where)
			require.Equal(t, want.Rate, x.h.Rate, where)
			require.Equal(t, tensor.Desc{DType: x.h.DType, Shape: x.h.Shape}, x.t.Desc, where)
			require.Equal(t, x.h, streamed[i].h, where)
			require.Equal(t, want.SHA256, digest(streamed[i].t), where)
			n++
		}
		for _, in := range []io.Reader{bytes.NewReader(b), plain{bytes.NewReader(b)}} {
			r := NewReader(in, o)
			for _, want := range got {
				h, err := r.Next()
				require.NoError(t, err)
				require.Equal(t, want.h, h)
			}
			_, err := r.Next()
			require.Equal(t, io.EOF, err)
		}
	}
	require.Equal(t, len(e.Rows), n)
	t.Logf("%d of %d objects", n, len(e.Rows))
}

// TestWrite compares written files with Kaldi's, byte for byte.
func TestWrite(t *testing.T) {
	read := func(name string, o Options) []object {
		l, err := readAll(NewReader(bytes.NewReader(file(t, name)), o))
		require.Equal(t, io.EOF, err, name)
		return l
	}
	for _, name := range []string{"float.ark", "double.ark", "cmvn.ark", "vector.ark", "vector_double.ark", "ints.ark", "kaldiio.ark", "wave.ark", "kaldiio_wave.ark"} {
		var b, script bytes.Buffer
		w := NewWriter(&b, WriterOptions{Script: &script, Name: name})
		for _, x := range read(name, Options{}) {
			require.EqualValues(t, b.Len(), w.Offset())
			if x.h.Type == Wave {
				require.NoError(t, w.WriteWave(x.h.Key, x.t, x.h.Rate))
			} else {
				require.NoError(t, w.Write(x.h.Key, x.t))
			}
		}
		require.Equal(t, hex.Dump(file(t, name)), hex.Dump(b.Bytes()), name)
		if scp := strings.TrimSuffix(name, ".ark") + ".scp"; name == "float.ark" || name == "kaldiio.ark" {
			require.Equal(t, string(file(t, scp)), script.String())
		}
	}
	for text, from := range map[string]string{"float_text.ark": "float.ark", "double_text.ark": "double.ark", "vector_text.ark": "vector.ark", "ints_text.ark": "ints.ark"} {
		var b bytes.Buffer
		w := NewWriter(&b, WriterOptions{Text: true})
		for _, x := range read(from, Options{}) {
			if x.h.Key == "special" {
				x.t = matrix(t, 2, 2, float32(math.NaN()), float32(math.Inf(1)), -1e30, 1e-9)
			}
			require.NoError(t, w.Write(x.h.Key, x.t))
		}
		require.Equal(t, string(file(t, text)), b.String(), text)
	}
	for m := Automatic; m <= OneByteZeroOne; m++ {
		var b bytes.Buffer
		w := NewWriter(&b, WriterOptions{})
		for _, x := range read("float.ark", Options{}) {
			if x.h.Shape.Len() == 0 || x.h.Key == "special" {
				continue
			}
			require.NoError(t, w.WriteCompressed(x.h.Key, x.t, m))
		}
		require.Equal(t, hex.Dump(file(t, fmt.Sprintf("method%d.ark", m))), hex.Dump(b.Bytes()), "method %d", m)
	}
	// Copy raw objects to another archive.
	for _, name := range []string{"float.ark", "float_text.ark", "method2.ark", "method3.ark", "wave.ark", "ints.ark", "ints_text.ark"} {
		for _, in := range []io.Reader{bytes.NewReader(file(t, name)), plain{bytes.NewReader(file(t, name))}} {
			var b bytes.Buffer
			w, r := NewWriter(&b, WriterOptions{}), NewReader(in, Options{})
			for {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				raw, err := r.Raw()
				require.NoError(t, err)
				require.NoError(t, w.WriteRaw(h.Key, raw))
				require.Equal(t, r.Offset(), w.Offset())
			}
			require.Equal(t, file(t, name), b.Bytes(), name)
		}
	}
}

func matrix(t testing.TB, rows, cols int, v ...float32) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(rows, cols)})
	require.NoError(t, err)
	copy(tensor.View[float32](x), v)
	return x
}

func ints(t testing.TB, v ...int32) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(v))})
	require.NoError(t, err)
	copy(tensor.View[int32](x), v)
	return x
}

// example returns the archive of docs/format/kaldi.md.
func example(t testing.TB) []byte {
	var b bytes.Buffer
	w := NewWriter(&b, WriterOptions{})
	require.NoError(t, w.Write("a", matrix(t, 1, 2, 1, -2)))
	require.NoError(t, w.Write("b", ints(t, 5, -1)))
	require.NoError(t, w.WriteCompressed("c", matrix(t, 1, 3, 0, 1, 2), TwoByteAuto))
	v := matrix(t, 1, 2, 0.5, 3)
	v.Shape = tensor.Dims(2)
	v.Strides[0] = 1
	require.NoError(t, NewWriter(&b, WriterOptions{Text: true}).Write("d", v))
	return b.Bytes()
}

// TestFormat writes the example of docs/format/kaldi.md and reads it.
func TestFormat(t *testing.T) {
	b := hexdoc.Read(t, filepath.Join("..", ".."), "kaldi")
	require.Equal(t, hex.Dump(b), hex.Dump(example(t)))
	l, err := readAll(NewReader(bytes.NewReader(b), Options{}))
	require.Equal(t, io.EOF, err)
	require.Len(t, l, 4)
	require.Equal(t, []float32{1, -2}, tensor.View[float32](l[0].t))
	require.Equal(t, []int32{5, -1}, tensor.View[int32](l[1].t))
	require.Equal(t, []float32{0, 0.99998474, 2}, tensor.View[float32](l[2].t))
	require.Equal(t, []float32{0.5, 3}, tensor.View[float32](l[3].t))
	for i, want := range []Type{Matrix, IntVector, Matrix, Vector} {
		require.Equal(t, want, l[i].h.Type)
	}
}

// TestKaldiio tests that entries that only kaldiio writes are refused. One of
// them would run code.
func TestKaldiio(t *testing.T) {
	for _, name := range []string{"numpy.ark", "pickle.ark"} {
		_, err := readAll(NewReader(bytes.NewReader(file(t, name)), Options{Name: name}))
		require.ErrorIs(t, err, records.ErrUnsupported)
		require.ErrorContains(t, err, name)
	}
}

func BenchmarkRead(b *testing.B) {
	x := matrix(b, 1000, 80)
	for i, v := 0, tensor.View[float32](x); i < len(v); i++ {
		v[i] = float32(i*7919%1000) / 10
	}
	for m := Method(0); m <= OneByteAuto; m++ {
		var file bytes.Buffer
		w := NewWriter(&file, WriterOptions{})
		if m == 0 {
			require.NoError(b, w.Write("k", x))
		} else {
			require.NoError(b, w.WriteCompressed("k", x, m))
		}
		b.Run(fmt.Sprintf("method%d", m), func(b *testing.B) {
			b.SetBytes(int64(len(x.Data)))
			t := &tensor.Tensor{}
			for range b.N {
				r := NewReader(bytes.NewReader(file.Bytes()), Options{})
				_, err := r.Next()
				require.NoError(b, err)
				require.NoError(b, r.ReadTo(t))
			}
		})
	}
}
