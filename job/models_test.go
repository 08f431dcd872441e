package job

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// aligned copies b to memory that is aligned for elements of any size.
func aligned(b ...byte) []byte {
	a := tensor.Alloc(len(b))
	copy(a, b)
	return a
}

// TestTritonElements checks the JSON of every type.
func TestRequest(t *testing.T) {
	var b bytes.Buffer
	for _, c := range []struct {
		dtype tensor.DType
		data  []byte
		want  string
	}{
		{tensor.Bool, aligned(0, 1), `"BOOL","data":[false,true]`},
		{tensor.Uint8, aligned(0, 255), `"UINT8","data":[0,255]`},
		{tensor.Int8, aligned(1, 255), `"INT8","data":[1,-1]`},
		{tensor.Uint16, aligned(1, 0, 255, 255), `"UINT16","data":[1,65535]`},
		{tensor.Int16, aligned(1, 0, 255, 255), `"INT16","data":[1,-1]`},
		{tensor.Int32, aligned(1, 0, 0, 0, 255, 255, 255, 255), `"INT32","data":[1,-1]`},
		{tensor.Int64, aligned(255, 255, 255, 255, 255, 255, 255, 127, 255, 255, 255, 255, 255, 255, 255, 255), `"INT64","data":[9223372036854775807,-1]`},
		{tensor.Float32, aligned(0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0, 0x80), `"FP32","data":[0.1,-0]`},
		{tensor.Float64, aligned(0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f), `"FP64","data":[0.1,1]`},
	} {
		x, err := tensor.Wrap(tensor.Desc{DType: c.dtype, Shape: tensor.Dims(2)}, c.data)
		require.NoError(t, err)
		b.Reset()
		require.NoError(t, writeRequest(&b, []tensor.Named{{Name: "x", T: x}}))
		require.Equal(t, `{"inputs":[{"name":"x","shape":[2],"datatype":`+c.want+"}]}\n", b.String())
	}
	nan, err := tensor.Wrap(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1)}, aligned(0, 0, 0xc0, 0x7f))
	require.NoError(t, err)
	require.ErrorContains(t, writeRequest(io.Discard, []tensor.Named{{Name: "x", T: nan}}), "x: element 0 is NaN")
}
