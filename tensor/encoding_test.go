package tensor

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const noLimit = math.MaxInt64

var (
	dtypes = []DType{Uint8, Int8, Uint16, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64, Bool}
	shapes = []Shape{Dims(), Dims(0), Dims(1), Dims(2, 3), Dims(3, 2, 5), Dims(4, 0, 7)}
)

// pattern returns the tensor that testdata/gen/tensors/tensor_files.py writes
// for a type and shape.
func pattern(t testing.TB, d DType, s Shape) *Tensor {
	x, err := New(Desc{DType: d, Shape: s})
	require.NoError(t, err)
	for k := range x.Data {
		x.Data[k] = byte(k*37 + 11)
		if d == Bool {
			x.Data[k] = x.Data[k] >> 1 & 1
		}
	}
	if !hostLittle {
		swapElems(x.Data, d.Size())
	}
	return x
}

// strided returns a view with t's elements that is not dense, unless t is
// empty.
func strided(t testing.TB, x *Tensor) *Tensor {
	rank := x.Shape.Rank()
	d := x.Desc
	for i := range rank {
		d.Shape = d.Shape.With(rank-1-i, x.Shape.At(i)*2+1)
	}
	big, err := New(d)
	require.NoError(t, err)
	v := *big
	v.Desc = x.Desc
	for i := range rank {
		v.Strides[i] = big.Strides[rank-1-i] * 2
	}
	size := x.DType.Size()
	var fill func(axis, at int, src []byte) []byte
	fill = func(axis, at int, src []byte) []byte {
		if axis == rank {
			return src[copy(v.Data[at*size:(at+1)*size], src):]
		}
		for i := range v.Shape.At(axis) {
			src = fill(axis+1, at+i*v.Strides[axis], src)
		}
		return src
	}
	require.Empty(t, fill(0, 0, x.Data))
	require.Equal(t, x.Data, v.Clone().Data)
	return &v
}

func goldens(t testing.TB) map[string][]byte {
	z, err := zip.OpenReader("testdata/goldens.zip")
	require.NoError(t, err)
	defer z.Close()
	m := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		m[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
	return m
}

func goldenKey(d DType, s Shape) string {
	if s.Rank() == 0 {
		return d.String() + "_scalar"
	}
	return d.String() + "_" + strings.ReplaceAll(strings.Trim(strings.ReplaceAll(s.String(), ", ", "x"), "(),"), " ", "")
}

// equal compares tensors by description and bytes.
func equal(t testing.TB, want, got *Tensor, what string) {
	t.Helper()
	require.Equal(t, want.Desc, got.Desc, what)
	require.True(t, got.DType == Bytes || got.Dense(), what)
	require.True(t, bytes.Equal(want.Data, got.Data), "%s: got % x, want % x", what, got.Data, want.Data)
}

func TestEncodingGoldens(t *testing.T) {
	g := goldens(t)
	n := map[string]int{}
	for _, d := range dtypes {
		for _, s := range shapes {
			want := pattern(t, d, s)
			key := goldenKey(d, s)
			for _, c := range []struct {
				file  string
				write func(io.Writer, *Tensor) error
				read  func(io.Reader) (*Tensor, error)
			}{
				{"npy/" + key + ".npy", WriteNPY, func(r io.Reader) (*Tensor, error) { return ReadNPY(r, noLimit) }},
				{"safetensors/" + key + ".safetensors",
					func(w io.Writer, x *Tensor) error {
						return WriteSafetensors(w, []Named{{"the tensor", x}}, nil)
					},
					func(r io.Reader) (*Tensor, error) {
						ts, meta, err := ReadSafetensors(r, noLimit)
						if err != nil {
							return nil, err
						}
						require.Nil(t, meta)
						require.Equal(t, "the tensor", ts[0].Name)
						return ts[0].T, nil
					}},
				{"onnx/" + key + ".pb",
					func(w io.Writer, x *Tensor) error { return WriteTensorProto(w, key, x) },
					func(r io.Reader) (*Tensor, error) {
						name, x, err := ReadTensorProto(r, noLimit)
						if name != "" { // which a prefix of the message may not have yet
							require.Equal(t, key, name)
						}
						return x, err
					}},
			} {
				golden, ok := g[c.file]
				require.Equal(t, !ok, d == BFloat16 && strings.HasPrefix(c.file, "npy"), c.file)
				if !ok {
					continue
				}
				for i, r := range []io.Reader{bytes.NewReader(golden), iotest.OneByteReader(bytes.NewReader(golden))} {
					got, err := c.read(r)
					require.NoError(t, err, c.file)
					equal(t, want, got, fmt.Sprint(c.file, i))
				}
				for _, x := range []*Tensor{want, strided(t, want)} {
					var b bytes.Buffer
					require.NoError(t, c.write(&b, x), c.file)
					require.Equal(t, golden, b.Bytes(), c.file)
				}
				// Every truncated input returns an error of the right kind.
				for i := range golden {
					_, err := c.read(bytes.NewReader(golden[:i]))
					if strings.HasPrefix(c.file, "onnx/") && err == nil {
						continue // (a prefix of a message may be one)
					}
					require.ErrorIs(t, err, ErrEncoding, "%s cut at %d", c.file, i)
					require.ErrorIs(t, err, ErrFormat, "%s cut at %d", c.file, i)
				}
				n[c.file[:3]]++
			}
			var b bytes.Buffer
			require.NoError(t, WriteRaw(&b, strided(t, want)))
			got, err := ReadRaw(&b, want.Desc, noLimit)
			require.NoError(t, err)
			equal(t, want, got, key)
		}
	}
	require.Equal(t, map[string]int{"npy": 60, "saf": 66, "onn": 66}, n)
}

func TestReadNPYVariants(t *testing.T) {
	n := 0
	for name, b := range goldens(t) {
		key, ok := strings.CutPrefix(name, "npy_read/")
		if !ok {
			continue
		}
		d, err := ParseDType(key[:strings.Index(key, "_")])
		require.NoError(t, err)
		got, err := ReadNPY(bytes.NewReader(b), 240)
		require.NoError(t, err, name)
		equal(t, pattern(t, d, Dims(3, 2, 5)), got, name)
		n++
	}
	require.Equal(t, 10+7*2+3, n)
	// One array after the other, as numpy.save writes to an open file.
	var b bytes.Buffer
	x := pattern(t, Float32, Dims(2, 3))
	require.NoError(t, WriteNPY(&b, x))
	require.NoError(t, WriteNPY(&b, x))
	for range 2 {
		got, err := ReadNPY(&b, noLimit)
		require.NoError(t, err)
		equal(t, x, got, "one after the other")
	}
	_, err := ReadNPY(&b, noLimit)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func equalAll(t testing.TB, want, got []Named) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Name, got[i].Name)
		equal(t, want[i].T, got[i].T, want[i].Name)
	}
}

func TestSafetensorsGoldens(t *testing.T) {
	g := goldens(t)
	var ts []Named
	for _, d := range dtypes {
		if d != BFloat16 {
			ts = append(ts, Named{d.String(), pattern(t, d, Dims(2, 3))})
		}
	}
	ts = append(ts, Named{"Größe", pattern(t, Uint8, Dims())}, Named{"bfloat16", pattern(t, BFloat16, Dims(2, 3))},
		Named{"\"quoted\"\\\n\t\x01/\x7f<&>\u2028", pattern(t, Uint8, Dims())},
		Named{"empty", pattern(t, Uint8, Dims(0, 3))}, Named{"an other", pattern(t, Uint8, Dims(3))})
	var b bytes.Buffer
	require.NoError(t, WriteSafetensors(&b, ts, nil))
	require.Equal(t, string(g["safetensors/every.safetensors"]), b.String())
	got, meta, err := ReadSafetensors(&b, noLimit)
	require.NoError(t, err)
	require.Nil(t, meta)
	require.Len(t, got, len(ts))
	byName := map[string]*Tensor{}
	for _, n := range got {
		byName[n.Name] = n.T
	}
	for _, n := range ts {
		require.Contains(t, byName, n.Name)
		equal(t, n.T, byName[n.Name], n.Name)
	}
	require.Equal(t, "int64", got[0].Name)
	require.Equal(t, "bool", got[len(got)-1].Name)

	m := map[string]string{"fo\"rmat": "pt\n"}
	x := []Named{{"x", pattern(t, Float32, Dims(2, 3))}}
	b.Reset()
	require.NoError(t, WriteSafetensors(&b, x, m))
	require.Equal(t, string(g["safetensors/metadata.safetensors"]), b.String())
	got, meta, err = ReadSafetensors(&b, 24)
	require.NoError(t, err)
	require.Equal(t, m, meta)
	equalAll(t, x, got)

	b.Reset()
	require.NoError(t, WriteSafetensors(&b, nil, nil))
	require.Equal(t, g["safetensors/none.safetensors"], b.Bytes())
}

// stFile returns a safetensors file with a header and zeros.
func stFile(head string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(b, head...), make([]byte, data)...)
}

func TestReadSafetensorsRules(t *testing.T) {
	const a = `"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}`
	for _, c := range []struct {
		name, head string
		data       int
		want       error // nil: read
	}{
		{"plain", `{` + a + `}`, 2, nil},
		{"padded", `{` + a + "}  \n ", 2, nil},
		{"other field", `{"a":{"x":[1,{"y":null}],"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, nil},
		{"any order", `{"b":{"shape":[],"data_offsets":[2,3],"dtype":"I8"},` + a + `}`, 3, nil},
		{"empty between", `{"b":{"shape":[1],"data_offsets":[2,3],"dtype":"I8"},"e":{"shape":[0],"data_offsets":[2,2],"dtype":"I8"},` + a + `}`, 3, nil},
		{"surrogate pair", `{"\ud83d\ude00":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, nil},
		{"escaped backslash", `{"\\ud800":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, nil},
		{"no header", ``, 0, ErrFormat},
		{"space first", ` {` + a + `}`, 2, ErrFormat},
		{"not JSON", `{` + a, 2, ErrFormat},
		{"two values", `{` + a + `}{}`, 2, ErrFormat},
		{"not UTF-8", "{\"\xff\":1}", 0, ErrFormat},
		{"half a surrogate pair", `{"\ud800":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"other half", `{"\udc00x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"name twice", `{` + a + `,` + a + `}`, 2, ErrFormat},
		{"name twice, escaped", `{` + a + `,"\u0061":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, 4, ErrFormat},
		{"field twice", `{"a":{"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"metadata twice", `{"__metadata__":{"k":"1","k":"2"},` + a + `}`, 2, ErrFormat},
		{"metadata not text", `{"__metadata__":{"k":1},` + a + `}`, 2, ErrFormat},
		{"no dtype", `{"a":{"shape":[2],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"dtype", `{"a":{"dtype":"U32","shape":[2],"data_offsets":[0,8]}}`, 8, ErrUnsupported},
		{"axes", `{"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,2]}}`, 2, ErrUnsupported},
		{"negative", `{"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"fraction", `{"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"overflow", `{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"three offsets", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2,2]}}`, 2, ErrFormat},
		{"offsets reversed", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}}`, 2, ErrFormat},
		{"offsets of another size", `{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}}`, 2, ErrFormat},
		{"gap", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3, ErrFormat},
		{"overlap", `{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},` + a + `}`, 3, ErrFormat},
		{"same data", `{"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},` + a + `}`, 2, ErrFormat},
		{"data missing", `{` + a + `}`, 1, ErrFormat},
		{"data left over", `{` + a + `}`, 3, ErrFormat},
		{"limit", `{"a":{"dtype":"U8","shape":[101],"data_offsets":[0,101]}}`, 101, ErrLimit},
		{"entry not an object", `{"a":1}`, 0, ErrFormat},
		{"deep", `{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, 0, ErrFormat},
	} {
		ts, _, err := ReadSafetensors(bytes.NewReader(stFile(c.head, c.data)), 100)
		if c.want == nil {
			require.NoError(t, err, c.name)
			require.Equal(t, "uint8 (2,)", ts[0].T.Desc.String(), c.name)
			continue
		}
		require.ErrorIs(t, err, c.want, c.name)
		require.ErrorIs(t, err, ErrEncoding, c.name)
		var e *Error
		require.ErrorAs(t, err, &e, c.name)
		require.Equal(t, "safetensors", e.Format)
	}
	_, _, err := ReadSafetensors(bytes.NewReader(binary.LittleEndian.AppendUint64(nil, stMaxHeader+1)), noLimit)
	require.ErrorIs(t, err, ErrLimit)
	_, _, err = ReadSafetensors(bytes.NewReader(binary.LittleEndian.AppendUint64(nil, math.MaxUint64)), noLimit)
	require.ErrorIs(t, err, ErrLimit)
}

func TestTensorProtoTyped(t *testing.T) {
	g := goldens(t)
	for _, d := range dtypes {
		want, err := New(Desc{DType: d, Shape: Dims(2, 3)})
		require.NoError(t, err)
		copy(want.Data, g["onnx_typed/"+d.String()+".bin"])
		if !hostLittle {
			swapElems(want.Data, d.Size())
		}
		for _, kind := range []string{"_packed.pb", "_unpacked.pb"} {
			file := "onnx_typed/" + d.String() + kind
			name, got, err := ReadTensorProto(bytes.NewReader(g[file]), int64(len(want.Data)))
			require.NoError(t, err, file)
			require.Equal(t, d.String(), name)
			equal(t, want, got, file)
			_, _, err = ReadTensorProto(bytes.NewReader(g[file]), int64(len(want.Data))-1)
			require.ErrorIs(t, err, ErrLimit, file)
		}
	}
	name, got, err := ReadTensorProto(bytes.NewReader(g["onnx_other/string.pb"]), 100)
	require.NoError(t, err)
	require.Equal(t, "image", name)
	equal(t, FromBytes([]byte("\xff\xd8 image \x00")), got, name)
	var b bytes.Buffer
	require.NoError(t, WriteTensorProto(&b, name, got))
	require.Equal(t, g["onnx_other/string.pb"], b.Bytes())
	b.Reset()
	require.NoError(t, WriteTensorProto(&b, "", pattern(t, Uint8, Dims(1))))
	require.Equal(t, g["onnx_other/unnamed.pb"], b.Bytes())
}

func TestReadTensorProtoRules(t *testing.T) {
	for _, c := range []struct {
		name, msg string
		want      error // nil: read as uint8 (2,) of 1, 2
	}{
		{"raw", "\x08\x02\x10\x02\x4a\x02\x01\x02", nil},
		{"dims packed", "\x0a\x01\x02\x10\x02\x4a\x02\x01\x02", nil},
		{"order", "\x4a\x02\x01\x02\x10\x02\x08\x02", nil},
		{"unknown field", "\xa2\x06\x01x\x08\x02\x10\x02\x4a\x02\x01\x02\xad\x06abcd", nil},
		{"metadata_props", "\x82\x01\x00\x08\x02\x10\x02\x4a\x02\x01\x02", nil},
		{"last one counts", "\x10\x01\x08\x02\x10\x02\x4a\x00\x4a\x02\x01\x02", nil},
		{"data_location default", "\x70\x00\x08\x02\x10\x02\x4a\x02\x01\x02", nil},
		{"int32_data", "\x08\x02\x10\x02\x28\x01\x2a\x01\x02", nil},
		{"empty", "", ErrFormat},
		{"no data", "\x08\x02\x10\x02", ErrFormat},
		{"no type", "\x08\x02\x4a\x02\x01\x02", ErrFormat},
		{"short", "\x08\x02\x10\x02\x4a\x01\x01", ErrFormat},
		{"long", "\x08\x02\x10\x02\x4a\x03\x01\x02\x03", ErrFormat},
		{"beyond the end", "\x08\x02\x10\x02\x4a\x05\x01\x02", ErrFormat},
		{"length overflows", "\x08\x02\x10\x02\x4a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x02", ErrFormat},
		{"endless number", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ErrFormat},
		{"field 0", "\x00\x02", ErrFormat},
		{"group", "\x0b\x0c", ErrFormat},
		{"wire type of raw", "\x08\x02\x10\x02\x48\x01", ErrFormat},
		{"negative dim", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x02\x4a\x02\x01\x02", ErrFormat},
		{"dims overflow", "\x0a\x0a\x80\x80\x80\x80\x80\x10\x80\x80\x80\x80\x10\x10\x02\x4a\x02\x01\x02", ErrFormat},
		{"range", "\x08\x02\x10\x02\x2a\x03\x01\x80\x02", ErrFormat},
		{"both", "\x08\x02\x10\x02\x2a\x02\x01\x02\x4a\x02\x01\x02", ErrFormat},
		{"two typed", "\x08\x02\x10\x02\x2a\x02\x01\x02\x3a\x02\x01\x02", ErrFormat},
		{"other typed", "\x08\x02\x10\x02\x3a\x02\x01\x02", ErrFormat},
		{"too few typed", "\x08\x02\x10\x02\x2a\x01\x01", ErrFormat},
		{"float_data odd", "\x08\x02\x10\x01\x22\x07\x01\x02\x03\x04\x05\x06\x07", ErrFormat},
		{"string data in numbers", "\x08\x02\x10\x02\x32\x02\x01\x02", ErrFormat},
		{"name not UTF-8", "\x42\x01\xff\x08\x02\x10\x02\x4a\x02\x01\x02", ErrFormat},
		{"bool", "\x08\x02\x10\x09\x4a\x02\x01\x02", ErrFormat},
		{"no string", "\x10\x08", ErrFormat},
		{"raw string", "\x10\x08\x4a\x01a", ErrFormat},
		{"strings", "\x08\x02\x10\x08\x32\x01a\x32\x01b", ErrUnsupported},
		{"type uint32", "\x08\x02\x10\x0c\x4a\x02\x01\x02", ErrUnsupported},
		{"axes", "\x0a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x02\x10\x02\x4a\x02\x01\x02", ErrUnsupported},
		{"segment", "\x08\x02\x10\x02\x1a\x00\x4a\x02\x01\x02", ErrUnsupported},
		{"external", "\x08\x02\x10\x02\x70\x01", ErrUnsupported},
		{"external data", "\x08\x02\x10\x02\x6a\x00", ErrUnsupported},
		{"limit", "\x08\xe8\x07\x10\x02", ErrLimit},
		{"string over the limit", "\x10\x08\x32\x65" + strings.Repeat("a", 101), ErrLimit},
	} {
		_, got, err := ReadTensorProto(strings.NewReader(c.msg), 100)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, c.name)
			require.ErrorIs(t, err, ErrEncoding, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, "uint8 (2,)", got.Desc.String(), c.name)
		require.Equal(t, []byte{1, 2}, got.Data, c.name)
	}
	_, _, err := ReadTensorProto(io.LimitReader(zeros{}, 1<<22), 100)
	require.ErrorIs(t, err, ErrLimit)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// npyFile returns a file of format 1.0 with the given header and some data.
func npyFile(head string, data int) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	return append(append(b, head...), make([]byte, data)...)
}

func TestReadNPYRules(t *testing.T) {
	for _, c := range []struct {
		head string
		want error // nil: read as float32 (2,)
	}{
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   ` + "\n", nil},
		{`{"shape":(2,),"descr":"<f4","fortran_order":True}`, nil},
		{"{ 'descr' : '<f4' ,\n'fortran_order' : False , 'shape' : ( 2L , ) }", nil},
		{``, ErrFormat},
		{`{}`, ErrFormat},
		{`[]`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}`, ErrFormat},
		{`{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}`, ErrFormat},
		{`{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (2)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (02,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': [2]}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (2,`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x`, ErrFormat},
		{`{'descr': '<f4\', 'fortran_order': False, 'shape': (2,)}`, ErrFormat},
		{`{'descr': <f4, 'fortran_order': False, 'shape': (2,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}`, ErrFormat}, // data too short
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}`, ErrFormat},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (26,)}`, ErrLimit},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}`, ErrLimit},
		{`{'descr': '|O', 'fortran_order': False, 'shape': (2,)}`, ErrUnsupported},
		{`{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}`, ErrUnsupported},
		{`{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}`, ErrUnsupported},
		{`{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}`, ErrUnsupported},
		{`{'descr': '', 'fortran_order': False, 'shape': (2,)}`, ErrUnsupported},
		{`{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}`, ErrUnsupported},
		{`{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}`, ErrUnsupported},
		{strings.Repeat(" ", 10001), ErrLimit},
	} {
		got, err := ReadNPY(bytes.NewReader(npyFile(c.head, 8)), 100)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, c.head)
			require.ErrorIs(t, err, ErrEncoding, c.head)
			continue
		}
		require.NoError(t, err, c.head)
		require.Equal(t, "float32 (2,)", got.Desc.String())
	}
	for _, c := range []struct {
		file string
		want error
	}{
		{"", ErrFormat}, {"\x93NUMPX\x01\x00", ErrFormat}, {"\x93NUMPY\x04\x00\x00\x00", ErrUnsupported},
		{"\x93NUMPY\x01\x01\x00\x00", ErrUnsupported}, {"\x93NUMPY\x02\x00\xff\xff\xff\xff", ErrLimit},
		{string(npyFile(`{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}`, 0)) + "\x01\x02", ErrFormat},
	} {
		_, err := ReadNPY(strings.NewReader(c.file), 100)
		require.ErrorIs(t, err, c.want, "%q", c.file)
	}
}

// TestReadersAllocateLittle checks that a header alone does not make a reader
// allocate much.
func TestReadersAllocateLittle(t *testing.T) {
	npy := npyFile(`{'descr': '<f8', 'fortran_order': True, 'shape': (1048576, 128)}`, 20)
	st := stFile(`{"a":{"dtype":"F64","shape":[1048576,128],"data_offsets":[0,1073741824]}}`, 20)
	stHead := append(binary.LittleEndian.AppendUint64(nil, 99_999_999), '{')
	pb := "\x0a\x06\x80\x80\x40\x80\x80\x40\x10\x0b\x4a\xff\xff\xff\xff\x07x"
	for name, read := range map[string]func() error{
		"npy":         func() error { _, err := ReadNPY(bytes.NewReader(npy), noLimit); return err },
		"npy stream":  func() error { _, err := ReadNPY(iotest.OneByteReader(bytes.NewReader(npy)), noLimit); return err },
		"safetensors": func() error { _, _, err := ReadSafetensors(bytes.NewReader(st), noLimit); return err },
		"header":      func() error { _, _, err := ReadSafetensors(bytes.NewReader(stHead), noLimit); return err },
		"onnx":        func() error { _, _, err := ReadTensorProto(strings.NewReader(pb), noLimit); return err },
		"raw": func() error {
			_, err := ReadRaw(strings.NewReader("x"), Desc{DType: Uint8, Shape: Dims(1<<20, 1<<10)}, noLimit)
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read()
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, ErrFormat, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3<<20), name)
	}
}

func TestReadsLargeStreams(t *testing.T) {
	x := pattern(t, Uint16, Dims(3, 1000, 1000)) // more than is allocated at once
	var npy, st, pb, raw bytes.Buffer
	require.NoError(t, WriteNPY(&npy, x))
	require.NoError(t, WriteSafetensors(&st, []Named{{"x", x}}, nil))
	require.NoError(t, WriteTensorProto(&pb, "x", x))
	require.NoError(t, WriteRaw(&raw, x))
	stream := func(b *bytes.Buffer) io.Reader { return struct{ io.Reader }{b} }
	got, err := ReadNPY(stream(&npy), x.Size())
	require.NoError(t, err)
	equal(t, x, got, "npy")
	ts, _, err := ReadSafetensors(stream(&st), x.Size())
	require.NoError(t, err)
	equal(t, x, ts[0].T, "safetensors")
	_, got, err = ReadTensorProto(stream(&pb), x.Size())
	require.NoError(t, err)
	equal(t, x, got, "onnx")
	got, err = ReadRaw(stream(&raw), x.Desc, x.Size())
	require.NoError(t, err)
	equal(t, x, got, "raw")

	// The size of a file is known.
	name := filepath.Join(t.TempDir(), "x.npy")
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, WriteNPY(f, x))
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	got, err = ReadNPY(f, x.Size())
	require.NoError(t, err)
	equal(t, x, got, "file")
}

func TestRaw(t *testing.T) {
	x := pattern(t, Float32, Dims(2, 3, 1))
	x.Layout = HWC
	var b bytes.Buffer
	require.NoError(t, WriteRaw(&b, x))
	b.WriteString("rest")
	got, err := ReadRaw(&b, x.Desc, 24)
	require.NoError(t, err)
	equal(t, x, got, "raw")
	got, err = ReadRaw(&b, Encoded(), 4)
	require.NoError(t, err)
	equal(t, FromBytes([]byte("rest")), got, "raw")
	require.NoError(t, WriteRaw(&b, got))
	_, err = ReadRaw(&b, Encoded(), 3)
	require.ErrorIs(t, err, ErrLimit)
	_, err = ReadRaw(&b, x.Desc, 23)
	require.ErrorIs(t, err, ErrLimit)
	_, err = ReadRaw(&b, Image(Uint8, HWC, Unknown, 2, 3), 23)
	require.ErrorIs(t, err, ErrDesc)
	_, err = ReadRaw(&b, Desc{}, 23)
	require.ErrorIs(t, err, ErrDesc)

	// The reader's own error is returned, and is not an ErrEncoding.
	boom := errors.New("boom")
	for name, read := range map[string]func(io.Reader) error{
		"npy":         func(r io.Reader) error { _, err := ReadNPY(r, noLimit); return err },
		"safetensors": func(r io.Reader) error { _, _, err := ReadSafetensors(r, noLimit); return err },
		"onnx":        func(r io.Reader) error { _, _, err := ReadTensorProto(r, noLimit); return err },
		"raw":         func(r io.Reader) error { _, err := ReadRaw(r, Encoded(), noLimit); return err },
	} {
		err := read(iotest.ErrReader(boom))
		require.ErrorIs(t, err, boom, name)
		require.NotErrorIs(t, err, ErrEncoding, name)
	}
}

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

func TestWritersRefuse(t *testing.T) {
	bf, by, u8 := pattern(t, BFloat16, Dims(2)), FromBytes([]byte("x")), pattern(t, Uint8, Dims(300, 400))
	bad := &Tensor{Desc: Desc{DType: Uint8, Shape: Dims(2, 2)}, Data: make([]byte, 3)}
	bad.Strides = [MaxRank]int{2, 1}
	negative := &Tensor{Desc: Desc{DType: Uint8, Shape: Dims(2)}, Data: make([]byte, 3)}
	negative.Strides[0] = -1
	huge := &Tensor{Desc: Desc{DType: Uint8, Shape: Dims(1<<30, 4)}, Data: make([]byte, 1)}
	var invalid Tensor
	w := io.Discard
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"npy bfloat16", WriteNPY(w, bf), ErrUnsupported},
		{"npy bytes", WriteNPY(w, by), ErrUnsupported},
		{"npy data", WriteNPY(w, bad), ErrDesc},
		{"npy strides", WriteNPY(w, negative), ErrDesc},
		{"npy none", WriteNPY(w, nil), ErrDesc},
		{"safetensors bytes", WriteSafetensors(w, []Named{{"a", by}}, nil), ErrUnsupported},
		{"safetensors twice", WriteSafetensors(w, []Named{{"a", u8}, {"a", bf}}, nil), ErrUnsupported},
		{"safetensors reserved", WriteSafetensors(w, []Named{{stMeta, u8}}, nil), ErrUnsupported},
		{"safetensors not UTF-8", WriteSafetensors(w, []Named{{"\xff", u8}}, nil), ErrUnsupported},
		{"safetensors metadata", WriteSafetensors(w, nil, map[string]string{"a": "\xff"}), ErrUnsupported},
		{"safetensors invalid", WriteSafetensors(w, []Named{{"a", &invalid}}, nil), ErrDesc},
		{"onnx not UTF-8", WriteTensorProto(w, "\xff", u8), ErrUnsupported},
		{"onnx data", WriteTensorProto(w, "a", bad), ErrDesc},
		{"onnx huge", WriteTensorProto(w, "a", huge), ErrUnsupported}, // strides 0: one element, repeated
		{"raw data", WriteRaw(w, bad), ErrDesc},
	} {
		require.ErrorIs(t, c.err, c.want, c.name)
		require.Equal(t, c.want == ErrUnsupported, errors.Is(c.err, ErrEncoding), c.name)
	}
	view, err := u8.Slice(1, 1, 399)
	require.NoError(t, err)
	for n := 0; n < 119400; n += 997 { // less than the smallest of the files
		for _, x := range []*Tensor{u8, view} {
			require.ErrorIs(t, WriteNPY(&failAfter{n}, x), errFull)
			require.ErrorIs(t, WriteSafetensors(&failAfter{n}, []Named{{"a", x}}, nil), errFull)
			require.ErrorIs(t, WriteTensorProto(&failAfter{n}, "a", x), errFull)
			require.ErrorIs(t, WriteRaw(&failAfter{n}, x), errFull)
		}
	}
	require.Equal(t, `tensor: npy: not supported: bfloat16 (2,) has no type in NumPy's format`, WriteNPY(w, bf).Error())
	_, err = ReadNPY(strings.NewReader("\x93NUMPY\x01"), 9)
	require.EqualError(t, err, `tensor: npy: malformed: the input ends inside the magic string of 8 bytes at byte 7: unexpected EOF`)
}

// checkDir is the folder into which TestWriteForCheck writes files for
// testdata/gen/tensors/tensor_check.py: go test ./tensor -run TestWriteForCheck
// -args
// -dir DIR
var checkDir = flag.String("dir", "", "directory for TestWriteForCheck")

func TestWriteForCheck(t *testing.T) {
	dir := *checkDir
	if dir == "" {
		dir = t.TempDir()
	}
	create := func(name string, write func(w io.Writer) error) {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, write(f))
		require.NoError(t, f.Close())
	}
	type entry struct {
		Key   string `json:"key"`
		DType DType  `json:"dtype"`
		Shape Shape  `json:"shape"`
	}
	var index []entry
	var st []Named
	for _, d := range dtypes {
		for _, s := range append(shapes, Dims(1, 1, 1, 1, 1, 1, 1, 2), Dims(123, 45)) {
			key, x := goldenKey(d, s), strided(t, pattern(t, d, s))
			index = append(index, entry{key, d, s})
			st = append(st, Named{key, x})
			if d != BFloat16 {
				create(key+".npy", func(w io.Writer) error { return WriteNPY(w, x) })
			}
			create(key+".pb", func(w io.Writer) error { return WriteTensorProto(w, key, x) })
			create(key+".raw", func(w io.Writer) error { return WriteRaw(w, x) })
		}
	}
	create("all.safetensors", func(w io.Writer) error {
		return WriteSafetensors(w, st, map[string]string{"b": "<\"\\\n\x01é>", "a": ""})
	})
	create("bytes.pb", func(w io.Writer) error { return WriteTensorProto(w, "bytes", FromBytes([]byte("caf\xc3\xa9"))) })
	create("index.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(index) })
}
