package tensor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCopyPadded(t *testing.T) {
	for dt := Bool; dt < Bytes; dt++ {
		if dt.Validate() != nil {
			continue
		}
		src, err := New(Desc{DType: dt, Shape: Dims(3, 2)})
		require.NoError(t, err)
		part, err := src.Slice(0, 1, 3) // a view of zeros
		require.NoError(t, err)
		dst, err := New(Desc{DType: dt, Shape: Dims(2, 3)})
		require.NoError(t, err)
		require.NoError(t, part.CopyPadded(dst, 1))
		at := Float64s(dst)
		for i, want := range []float64{0, 0, 1, 0, 0, 1} {
			require.Equal(t, want, at(i), "%v at %d", dt, i)
		}
	}
	x, err := New(Desc{DType: Uint8, Shape: Dims(2)})
	require.NoError(t, err)
	copy(x.Data, []uint8{5, 6})
	y, err := New(Desc{DType: Uint8, Shape: Dims(3)})
	require.NoError(t, err)
	require.NoError(t, x.CopyPadded(y, 300))
	require.Equal(t, []uint8{5, 6, 255}, y.Data)
	require.NoError(t, x.CopyPadded(y, -1.5))
	require.Equal(t, []uint8{5, 6, 0}, y.Data)
	require.ErrorContains(t, y.CopyPadded(x, 0), "want one type")
	z, err := New(Desc{DType: Int8, Shape: Dims(3)})
	require.NoError(t, err)
	require.Error(t, x.CopyPadded(z, 0))
	require.Error(t, FromBytes(nil).CopyPadded(x, 0))
}
