package webdataset

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
			fields := decodeAll(nil, in)
			require.NotEqual(t, fields[0].Name, fields[1].Name)
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
