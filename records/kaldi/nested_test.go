package kaldi

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// group is an integer as Kaldi writes it.
func group(v ...int) string {
	var b []byte
	for _, v := range v {
		b = binary.LittleEndian.AppendUint32(append(b, 4), uint32(v))
	}
	return string(b)
}

// others are objects of Kaldi that this package does not read, with the names
// that errors give them.
func others() map[string][2]string {
	f32 := func(v float32) string { return group(int(int32(math.Float32bits(v)))) }
	f64 := string(binary.LittleEndian.AppendUint64([]byte{8}, math.Float64bits(2.5)))
	long, posterior := group(3000), group(3000)
	for i := range 3000 {
		long += group(2, i, -i)
		posterior += group(1, i) + f32(0.5)
	}
	return map[string][2]string{
		"vectors":           {"\x00B" + group(3, 2, 1, 2, 1, 3, 0), "a vector of vectors"},
		"one vector":        {"\x00B" + group(1, 1, 7), "a vector of vectors"},
		"pairs":             {"\x00B" + group(2, 1, -2, 3, 4), "a vector of pairs"},
		"posterior":         {"\x00B" + group(2, 2, 1) + f32(0.25) + group(2) + f32(0.75) + group(0), "a posterior"},
		"many vectors":      {"\x00B" + long, "a vector of vectors"},
		"large posterior":   {"\x00B" + posterior, "a posterior"},
		"int32":             {"\x00B" + group(300), "a number"},
		"float":             {"\x00B" + f32(1.5), "a number"},
		"negative":          {"\x00B" + f32(-1.5), "a number"},
		"double":            {"\x00B" + f64, "a number"},
		"packed":            {"\x00BFP " + group(2) + strings.Repeat("\x00", 12), "a packed matrix"},
		"sparse":            {"\x00BSM " + group(1), "a sparse matrix"},
		"model":             {"\x00B<TransitionModel> ", "a part of a model"},
		"text of vectors":   {"1 2 ; 3 ; ; \n", "a vector of vectors or of pairs"},
		"text of pairs":     {"1 2 ; 3 4 \n", "a vector of vectors or of pairs"},
		"text of posterior": {"[ 1 0.25 2 0.75 ] [ ] \n", "a posterior"},
		"text of one frame": {"[ 1 0.25 ] \n", "a posterior"},
	}
}

// TestOthers: objects whose first bytes are those of a vector of int32, and
// others that Kaldi writes, are refused by name however they are read. They
// came out as vectors of int32 if a script named their places.
func TestOthers(t *testing.T) {
	ctx := t.Context()
	for name, c := range others() {
		t.Run(name, func(t *testing.T) {
			refused := func(err error, how string) {
				t.Helper()
				require.ErrorIs(t, err, records.ErrUnsupported, how)
				require.NotErrorIs(t, err, records.ErrCorrupt, how)
				require.ErrorContains(t, err, c[1], how)
				require.ErrorContains(t, err, `"k0"`, how)
			}
			b := []byte("k0 " + c[0] + "k1 " + c[0] + "k2 " + c[0])
			if strings.Contains(name, "text") { // no other object looks like it at the end
				b = b[:len("k0 "+c[0])]
			}
			for how, in := range map[string]func() io.Reader{
				"bytes":  func() io.Reader { return bytes.NewReader(b) },
				"stream": func() io.Reader { return plain{bytes.NewReader(b)} },
			} {
				_, err := readAll(NewReader(in(), Options{}))
				refused(err, how)
				r := NewReader(in(), Options{})
				for err = nil; err == nil; {
					_, err = r.Next()
				}
				require.ErrorIs(t, err, records.ErrUnsupported, how)
				require.ErrorContains(t, err, `"k0"`, how)
			}
			m := newMemory(map[string][]byte{"a.ark": b, "a.scp": []byte("k0 a.ark:3\n")})
			s, err := OpenScript(ctx, m, "a.scp", Options{})
			require.NoError(t, err)
			_, err = s.Read(ctx, 0)
			refused(err, "script")
			_, err = s.Header(ctx, 0)
			require.ErrorIs(t, err, records.ErrUnsupported)
			_, err = s.Raw(ctx, 0)
			refused(err, "raw")
			require.NoError(t, s.Close())
			for _, file := range []string{"a.ark", "a.scp"} {
				r, err := openFormat(ctx, m, []string{file}, records.ReadOptions{})
				require.NoError(t, err)
				var x records.Record
				refused(r.Next(&x), file)
				require.NoError(t, r.Close())
			}
		})
	}
	// Vectors of int32 are still read, at the end of a file and before a key.
	for _, v := range [][]int32{{}, {4}, {0, 0}, {2, 1, 4}} {
		b := entry(t, false, func(w *Writer) error { return w.Write("k0", ints(t, v...)) })
		for _, more := range []string{"", "k1 \x00B" + group(0)} {
			m := newMemory(map[string][]byte{"a.ark": append(bytes.Clone(b), more...), "a.scp": []byte("k0 a.ark:3\n")})
			s, err := OpenScript(ctx, m, "a.scp", Options{})
			require.NoError(t, err)
			x, err := s.Read(ctx, 0)
			require.NoError(t, err, fmt.Sprint(v))
			require.Equal(t, v, append([]int32{}, tensor.View[int32](x)...))
			h, err := s.Header(ctx, 0)
			require.NoError(t, err)
			require.Equal(t, IntVector, h.Type)
		}
	}
}
