package tensor

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// fuzzLimit is small, so that a reader that ignores it fails.
const fuzzLimit = 1 << 16

// within checks the properties of every decoded tensor and returns its size in
// bytes.
func within(t *testing.T, x *Tensor) int64 {
	require.NoError(t, x.sound())
	require.Equal(t, NoLayout, x.Layout)
	if x.DType == Bytes {
		return int64(len(x.Data))
	}
	require.True(t, x.Dense())
	require.Equal(t, x.Size(), int64(len(x.Data)))
	return x.Size()
}

func seeds(f *testing.F, prefixes ...string) {
	for name, b := range goldens(f) {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) && !strings.HasSuffix(name, ".bin") {
				f.Add(b)
			}
		}
	}
}

// refused requires a reader's error to be an ErrEncoding.
func refused(t *testing.T, err error) {
	require.ErrorIs(t, err, ErrEncoding)
}

func FuzzNPY(f *testing.F) {
	seeds(f, "npy")
	f.Fuzz(func(t *testing.T, in []byte) {
		x, err := ReadNPY(bytes.NewReader(in), fuzzLimit)
		y, err2 := ReadNPY(iotest.HalfReader(struct{ io.Reader }{bytes.NewReader(in)}), fuzzLimit)
		require.Equal(t, err, err2)
		if err != nil {
			refused(t, err)
			return
		}
		require.LessOrEqual(t, within(t, x), int64(fuzzLimit))
		equal(t, x, y, "as a stream")
		var b bytes.Buffer
		require.NoError(t, WriteNPY(&b, x))
		y, err = ReadNPY(&b, fuzzLimit)
		require.NoError(t, err)
		equal(t, x, y, "again")
	})
}

func FuzzSafetensors(f *testing.F) {
	seeds(f, "safetensors")
	f.Fuzz(func(t *testing.T, in []byte) {
		ts, meta, err := ReadSafetensors(bytes.NewReader(in), fuzzLimit)
		if err != nil {
			refused(t, err)
			return
		}
		n := int64(0)
		byName := map[string]*Tensor{}
		for _, x := range ts {
			n += within(t, x.T)
			byName[x.Name] = x.T
		}
		require.LessOrEqual(t, n, int64(fuzzLimit))
		require.Len(t, byName, len(ts))
		var b bytes.Buffer
		require.NoError(t, WriteSafetensors(&b, ts, meta))
		again, meta2, err := ReadSafetensors(&b, fuzzLimit)
		require.NoError(t, err)
		require.Len(t, meta2, len(meta))
		for k, v := range meta {
			require.Equal(t, v, meta2[k])
		}
		require.Len(t, again, len(ts))
		for _, x := range again {
			equal(t, byName[x.Name], x.T, x.Name)
		}
	})
}

func FuzzTensorProto(f *testing.F) {
	seeds(f, "onnx")
	f.Fuzz(func(t *testing.T, in []byte) {
		name, x, err := ReadTensorProto(bytes.NewReader(in), fuzzLimit)
		if err != nil {
			refused(t, err)
			return
		}
		require.LessOrEqual(t, within(t, x), int64(fuzzLimit))
		var b bytes.Buffer
		require.NoError(t, WriteTensorProto(&b, name, x))
		name2, y, err := ReadTensorProto(&b, fuzzLimit)
		require.NoError(t, err)
		require.Equal(t, name, name2)
		equal(t, x, y, name)
	})
}
