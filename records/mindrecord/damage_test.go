package mindrecord

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

func scalar[T tensor.Elem](t testing.TB, d tensor.DType, v ...T) tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: d})
	if len(v) != 1 {
		x, err = tensor.New(tensor.Desc{DType: d, Shape: tensor.Dims(len(v))})
	}
	require.NoError(t, err)
	copy(tensor.View[T](x), v)
	return *x
}

// example returns the schema and rows of a small file with all kinds of fields.
func example(t testing.TB) (Schema, [][]tensor.Tensor) {
	array := func(d tensor.DType) tensor.Desc { return tensor.Desc{DType: d, Shape: tensor.Dims(tensor.Unknown)} }
	s := Schema{Doc: "damage", Fields: []Field{
		{Name: "a", Desc: array(tensor.Int32)}, {Name: "b", Desc: tensor.Encoded()}, {Name: "c", Desc: array(tensor.Int64)}, {Name: "d", Desc: array(tensor.Float32)},
		{Name: "e", Desc: tensor.Desc{DType: tensor.Float64}}, {Name: "f", Desc: tensor.Desc{DType: tensor.Float32}}, {Name: "g", Desc: tensor.Desc{DType: tensor.Int64}},
		{Name: "h", Desc: tensor.Desc{DType: tensor.Int32}}, {Name: "i", Desc: tensor.Encoded(), Text: true},
	}}
	var rows [][]tensor.Tensor
	for k := range 4 {
		rows = append(rows, []tensor.Tensor{
			scalar[int32](t, tensor.Int32, int32(k), -200, 1<<20), *tensor.FromBytes(fmt.Appendf(nil, "bytes %d", k)), scalar[int64](t, tensor.Int64, 1<<40, int64(k)),
			scalar[float32](t, tensor.Float32, 1, 2), scalar(t, tensor.Float64, 0.1+float64(k)), scalar[float32](t, tensor.Float32, 0.5), scalar[int64](t, tensor.Int64, int64(k)-2),
			scalar[int32](t, tensor.Int32, 1000), *tensor.FromBytes(fmt.Appendf(nil, "text é %d", k)),
		})
	}
	return s, rows
}

func writeExample(t testing.TB, name string) (data, index []byte) {
	s, rows := example(t)
	w, err := Create(name, s, small)
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	data, err = os.ReadFile(name)
	require.NoError(t, err)
	index, err = os.ReadFile(indexName(name))
	require.NoError(t, err)
	return data, index
}

// read returns the readable rows of a file and the error of each row. If Open
// fails it returns nil and the error of Open.
func read(t testing.TB, name string) (l []map[string]value, errs []error, err error) {
	s, err := Open([]string{name})
	if err != nil {
		return nil, nil, err
	}
	defer func() { require.NoError(t, s.Close()) }()
	for i := range s.Len() {
		var r Row
		err := s.Read(i, &r)
		m := map[string]value{}
		for k, f := range s.Columns() {
			if err == nil {
				m[f.Name] = valueOf(f, &r.Values[k])
			}
		}
		l, errs = append(l, m), append(errs, err)
	}
	return l, errs, nil
}

// places returns the positions of a file to change: all nonzero bytes, their
// neighbours, and some other bytes.
func places(t *testing.T, b []byte) (l []int) {
	t.Helper()
	for i := range b {
		if b[i] != 0 || i > 0 && b[i-1] != 0 || i%61 == 0 {
			l = append(l, i)
		}
	}
	n := short.Rounds(t, len(l), len(l)/5)
	for i := range n {
		l[i] = l[i*len(l)/n]
	}
	return l[:n]
}

// TestEveryDamage changes bytes of both files. A changed byte of the data file
// is an error of the file or of a row, changes that row alone, or changes
// nothing. A changed byte of the index is an error or changes nothing. A
// truncation of either file is an error.
func TestEveryDamage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	data, index := writeExample(t, name)
	want, errs, err := read(t, name)
	require.NoError(t, err)
	require.Len(t, want, 4)
	require.NotContains(t, fmt.Sprint(errs), "mindrecord")
	d, err := openData(disk, name)
	require.NoError(t, err)
	require.NoError(t, d.walk())
	require.NoError(t, d.Close())
	// rowOf returns the row whose record contains a position of the data file,
	// or -1.
	rowOf := func(at int) int {
		for row := range d.rows() {
			g, blob, raw := d.places(row)
			for page, p := range map[int][2]int64{d.groups[g].blob: blob, d.groups[g].raw: raw} {
				if from := d.h.at(page); int64(at) >= from+p[0] && int64(at) < from+p[1] {
					return int(row)
				}
			}
		}
		return -1
	}
	count := map[string]int{}
	write := func(name string, b []byte) { require.NoError(t, os.WriteFile(name, b, 0o600)) }
	for _, at := range places(t, data) {
		for _, change := range []byte{1 << (at % 8)} {
			b := bytes.Clone(data)
			b[at] ^= change
			write(name, b)
			got, errs, err := read(t, name)
			if err != nil {
				require.ErrorIs(t, err, records.ErrCorrupt, "byte %d: %v", at, err)
				require.Less(t, at, minHeader)
				count["file"]++
				continue
			}
			require.Len(t, got, len(want), "byte %d", at)
			changed := 0
			for i := range got {
				if errs[i] != nil {
					require.ErrorIs(t, errs[i], records.ErrCorrupt, "byte %d", at)
					count["row"]++
				} else if !equalRow(want[i], got[i]) {
					require.Equal(t, rowOf(at), i, "byte %d", at)
					changed++
				}
			}
			count["changed"] += changed
			if changed == 0 && fmt.Sprint(errs) == "[<nil> <nil> <nil> <nil>]" {
				count["nothing"]++
				if at < minHeader && data[at] != 0 { // only descriptions and the compression size are unchecked
					before := string(data[8 : at+1])
					require.True(t, strings.LastIndex(before, `"desc":"`) > strings.LastIndex(before, `,`) || strings.HasSuffix(strings.TrimRight(before, "0123456789"), `"compression_size":`),
						"byte %d changes nothing, behind %s", at, before)
				}
			}
		}
	}
	t.Logf("data file: %v", count)
	for n := range data {
		if n%997 != 0 && n > 1000 && len(data)-n > 100 {
			continue
		}
		write(name, data[:n])
		_, _, err := read(t, name)
		require.ErrorIs(t, err, records.ErrCorrupt, "cut to %d bytes", n)
	}
	write(name, data)
	clear(count)
	for _, at := range places(t, index) {
		for _, change := range []byte{1 << (at % 8)} {
			b := bytes.Clone(index)
			b[at] ^= change
			write(indexName(name), b)
			got, errs, err := read(t, name)
			if err != nil {
				require.ErrorIs(t, err, records.ErrCorrupt, "byte %d: %v", at, err)
				count["file"]++
				continue
			}
			count["nothing"]++
			require.Equal(t, want, got, "byte %d", at)
			require.Equal(t, "[<nil> <nil> <nil> <nil>]", fmt.Sprint(errs), "byte %d", at)
		}
	}
	t.Logf("index: %v", count)
	for n := range index {
		if n%61 != 0 && len(index)-n > 10 {
			continue
		}
		write(indexName(name), index[:n])
		got, _, err := read(t, name)
		if err == nil {
			require.Equal(t, want, got)
			count["cut"]++
		} else {
			require.ErrorIs(t, err, records.ErrCorrupt, "cut to %d bytes", n)
		}
	}
	t.Logf("%d cut indexes have all that is read", count["cut"])
	require.NoError(t, os.Remove(indexName(name)))
	_, _, err = read(t, name)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, Index(name))
	again, err := os.ReadFile(indexName(name))
	require.NoError(t, err)
	require.True(t, bytes.Equal(index, again))
}

func equalRow(a, b map[string]value) bool {
	for k := range a {
		if a[k].SHA256 != b[k].SHA256 || a[k].DType != b[k].DType || fmt.Sprint(a[k].Shape) != fmt.Sprint(b[k].Shape) {
			return false
		}
	}
	return len(a) == len(b)
}
