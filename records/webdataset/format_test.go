package webdataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

func vector(t testing.TB) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)})
	require.NoError(t, err)
	copy(tensor.View[float32](x), []float32{1, 2})
	return x
}

// FuzzFormat converts members to fields and back, and fields to members and
// back, with arbitrary names. Both must be unchanged.
func FuzzFormat(f *testing.F) {
	var npy bytes.Buffer
	require.NoError(f, tensor.WriteNPY(&npy, vector(f)))
	names := []string{"jpg", "cls", "txt", "npy", "bin", "json", "x.npy", "x.npy.npy", "x.cls", "x.bin", "x.bin.bin", "x.txt", "x", "x.json", "a%2fb", "a/b", "A", "%", "%25", "a%252fb", "ä", "Ä", "\xff", ".", "..npy", "", "a b"}
	for i, n := range names {
		for k, data := range []string{"7", "text", npy.String(), "\xff"} {
			f.Add(n, data, uint8(k), names[(i*7+k)%len(names)], "7", uint8(i), "key"+n)
		}
	}
	f.Add("0", "0", uint8(3), "0.txt", "0", uint8(2), "0")
	f.Add("0", "0", uint8(16), ".txt.txt", "0", uint8(34), "/")
	f.Fuzz(func(t *testing.T, n1, d1 string, k1 uint8, n2, d2 string, k2 uint8, key string) {
		if len(n1) > 300 || len(n2) > 300 || len(key) > 300 {
			return
		}
		// Members of a shard.
		good := func(ext string) bool {
			_, e, ok := KeyExt("k." + ext)
			return ok && e == ext && !strings.Contains(ext, "/")
		}
		if good(n1) && good(n2) && n1 != n2 {
			in := []Field{{n1, []byte(d1)}, {n2, []byte(d2)}}
			for _, end := range []string{".txt", ".cls", ".bin"} { // more fields with these names
				if x := n1 + end; good(x) && x != n2 {
					in = append(in, Field{x, []byte(d2)})
				}
			}
			fields := decodeAll(nil, in)
			names := map[string]bool{}
			for _, f := range fields {
				require.False(t, names[f.Name], "%q", f.Name)
				names[f.Name] = true
			}
			out, err := encodeAll(nil, &records.Record{Fields: fields})
			require.NoError(t, err)
			require.Equal(t, in, out)
		}
		// Fields of another format.
		if n1 != n2 {
			var r records.Record
			for i, n := range []string{n1, n2} {
				switch []uint8{k1, k2}[i] % 4 {
				case 0:
					r.AddBytes(n, []byte([]string{d1, d2}[i]))
				case 1:
					r.AddInt(n, int64(len(d1)))
				case 2:
					r.AddBytes(n, []byte([]string{d1, d2}[i]))
					r.Fields[i].Text = true
				case 3:
					r.Fields = append(r.Fields, records.Field{Name: n, Value: *vector(t)})
				}
			}
			members, err := encodeAll(nil, &r)
			if err != nil {
				require.ErrorIs(t, err, records.ErrField)
			} else if members[0].Ext != members[1].Ext && good(members[0].Ext) && good(members[1].Ext) {
				for i, back := range decodeAll(nil, members) {
					require.Equal(t, r.Fields[i].Name, back.Name)
					require.Equal(t, r.Fields[i].Value, back.Value)
				}
			}
		}
		// Keys.
		if k, _, ok := KeyExt(key + ".x"); ok && k == key {
			require.Equal(t, key, escapeKey(unescapeKey(key)))
		}
		e := escapeKey(key)
		require.Equal(t, key, unescapeKey(e))
		require.NotContains(t, e[strings.LastIndexByte(e, '/')+1:], ".")
	})
}

// tarMember appends a member of any name.
func tarMember(t testing.TB, b []byte, name, data string) []byte {
	w, err := NewTarWriter(io.Discard, TarOptions{})
	require.NoError(t, err)
	w.head(name, len(data))
	return append(append(append(b, w.buf...), data...), zeros[:-len(data)&(block-1)]...)
}

// readFormat reads a shard through package records.
func readFormat(b []byte) (fields []int, err error) {
	r, err := NewBytes(b, Options{Name: "f"})
	if err != nil {
		return nil, err
	}
	x := &formatReader{Reader: r}
	var record records.Record
	for {
		if err := x.Next(&record); err != nil {
			return fields, err
		}
		fields = append(fields, len(record.Fields))
	}
}

// TestManyFields: the time of a sample grows with its fields, not with their
// square, and their number is bounded. These two samples take some tenths of a
// second. When the time was quadratic, they took 40 s and more.
func TestManyFields(t *testing.T) {
	if short.On() {
		t.Skip("short: a platform changes neither the number of fields nor the order of their search")
	}
	shard := func(n int, ext func(i int) string) []byte {
		var b []byte
		for i := range n {
			b = tarMember(t, b, "k."+ext(i), "")
		}
		return append(b, make([]byte, 2*block)...)
	}
	for name, ext := range map[string]func(i int) string{
		"different": func(i int) string { return fmt.Sprintf("field%d", i) },
		// Both of a pair would be called fN.
		"pairs": func(i int) string { return fmt.Sprintf("f%d%s", i/2, []string{"", ".txt"}[i%2]) },
	} {
		b := shard(maxFields, ext)
		best := time.Duration(math.MaxInt64)
		for range 3 { // other programs can take the processor's time once
			start := time.Now()
			fields, err := readFormat(b)
			best = min(best, time.Since(start))
			require.Equal(t, io.EOF, err)
			require.Equal(t, []int{maxFields}, fields)
			if best < 10*time.Second {
				break
			}
		}
		t.Logf("%s: %d fields in %v", name, maxFields, best)
		require.Less(t, best, 10*time.Second, name)
	}
	_, err := readFormat(shard(maxFields+1, func(i int) string { return fmt.Sprint(i) }))
	require.ErrorIs(t, err, records.ErrTooLarge)
	require.NotErrorIs(t, err, records.ErrCorrupt)
	require.ErrorContains(t, err, fmt.Sprintf("webdataset: f: at byte %d: ", maxFields*block))
	require.ErrorContains(t, err, "65536 fields")
	// Names are bounded too: their memory is not that of the fields' data.
	long := strings.Repeat("n", 500_000)
	_, err = readFormat(shard(200, func(i int) string { return fmt.Sprint(i, long) }))
	require.ErrorIs(t, err, records.ErrTooLarge)
	require.ErrorContains(t, err, "names")
	// Writers refuse what readers refuse.
	s := &Sample{Key: "k"}
	for i := range maxFields + 1 {
		s.Fields = append(s.Fields, Field{Ext: fmt.Sprint(i)})
	}
	w, err := NewTarWriter(io.Discard, TarOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(s), records.ErrTooLarge)
	require.Zero(t, w.Offset())
	s.Fields = s.Fields[:maxFields]
	require.NoError(t, w.Write(s))
}

// TestSharedName: all members that would have one name keep their extensions.
func TestSharedName(t *testing.T) {
	var npy bytes.Buffer
	require.NoError(t, tensor.WriteNPY(&npy, vector(t)))
	names := func(exts ...string) (l []string) {
		var m []Field
		for _, e := range exts {
			data := []byte("7")
			if strings.HasSuffix(e, ".npy") {
				data = npy.Bytes()
			}
			m = append(m, Field{e, data})
		}
		for _, f := range decodeAll(nil, m) {
			l = append(l, f.Name)
		}
		return l
	}
	require.Equal(t, []string{"a", "b"}, names("a.cls", "b.txt"))
	require.Equal(t, []string{"a.cls", "a.txt"}, names("a.cls", "a.txt"))
	require.Equal(t, []string{"a.cls", "a.npy", "a.txt"}, names("a.cls", "a.npy", "a.txt"))
	require.Equal(t, []string{"b.cls", "b.txt", "b.cls.bin"}, names("b.cls", "b.txt", "b.cls.bin"))
	require.Equal(t, []string{"a.cls", "a.txt", "a"}, names("a.cls", "a.txt", "a"))
	require.Equal(t, []string{"x.txt", "x.txt.txt", "x.txt.txt.txt", "x.cls"}, names("x.txt", "x.txt.txt", "x.txt.txt.txt", "x.cls"))
}
