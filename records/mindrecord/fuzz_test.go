package mindrecord

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// seedFiles returns files that MindSpore wrote: data and index.
func seedFiles(f *testing.F, add func(data, index []byte)) {
	dir := goldens(f)
	for _, name := range []string{"scalars", "arrays", "packed", "index", "empty", "shards1", "bytes"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(f, err)
		index, err := os.ReadFile(filepath.Join(dir, indexName(name)))
		require.NoError(f, err)
		add(data, index)
	}
}

func FuzzHeader(f *testing.F) {
	seedFiles(f, func(data, _ []byte) {
		h, _, _ := bytes.Cut(data[8:min(len(data), minHeader)], []byte{0})
		f.Add(h)
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b)
		if err != nil {
			return
		}
		_, err = h.groups()
		again, err2 := parseHeader(h.appendJSON(nil))
		require.NoError(t, err2)
		require.Equal(t, h, again)
		_, err3 := again.groups()
		require.Equal(t, err, err3)
	})
}

func FuzzRaw(f *testing.F) {
	s, rows := example(f)
	require.NoError(f, s.Validate())
	w := &Writer{schema: s}
	for _, r := range rows {
		_, err := w.encode(r)
		require.NoError(f, err)
		f.Add(bytes.Clone(w.raw[8:]), bytes.Clone(w.blob[8:]))
	}
	f.Fuzz(func(t *testing.T, raw, blob []byte) {
		values := make([]tensor.Tensor, len(s.Fields))
		to := make([]*tensor.Tensor, len(values))
		for i := range values {
			to[i] = &values[i]
		}
		if s.decodeRaw(to, raw, make([]bool, len(values))) != nil || s.decodeBlobs(to, blob) != nil {
			return
		}
		// Rows that were read can be written and read again.
		_, err := w.encode(values)
		require.NoError(t, err)
		want := make([]value, len(values))
		for i, f := range s.Fields {
			want[i] = valueOf(f, &values[i])
		}
		require.NoError(t, s.decodeRaw(to, w.raw[8:], make([]bool, len(values))))
		require.NoError(t, s.decodeBlobs(to, w.blob[8:]))
		for i, f := range s.Fields {
			require.Equal(t, want[i], valueOf(f, &values[i]))
		}
	})
}

func FuzzPacked(f *testing.F) {
	for _, l := range [][]int64{{}, {0}, {1, -1, 127, 128, -128, -129}, {math.MaxInt64, math.MinInt64, 1 << 31, -1 << 31, 1 << 15}} {
		f.Add(appendPacked(nil, l))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, at, err := packedLen(b)
		if err != nil {
			return
		}
		out := make([]int64, n)
		if unpack(out, b, at) != nil {
			return
		}
		p := appendPacked(nil, out)
		require.LessOrEqual(t, len(p), len(b))
		m, at, err := packedLen(p)
		require.NoError(t, err)
		require.Equal(t, n, m)
		again := make([]int64, m)
		require.NoError(t, unpack(again, p, at))
		require.Equal(t, out, again)
		small := make([]int32, n)
		err = unpack(small, p, at)
		for i, v := range out {
			if v != int64(int32(v)) {
				require.Error(t, err)
				return
			}
			require.Equal(t, v, int64(small[i]))
		}
		require.NoError(t, err)
	})
}

// FuzzFile tests that two arbitrary files return rows or an error.
func FuzzFile(f *testing.F) {
	seedFiles(f, func(data, index []byte) { f.Add(data, index) })
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data, index []byte) {
		name := filepath.Join(dir, "x")
		require.NoError(t, os.WriteFile(name, data, 0o600))
		require.NoError(t, os.WriteFile(indexName(name), index, 0o600))
		s, err := Open([]string{name})
		if err != nil {
			return
		}
		defer func() { require.NoError(t, s.Close()) }()
		var r Row
		for i := range s.Len() {
			if err := s.Read(i, &r); err != nil && !errors.Is(err, records.ErrCorrupt) {
				require.NoError(t, err)
			}
		}
	})
}
