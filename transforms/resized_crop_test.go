package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestResizedCropReadsTheBoxAlone checks that the box is resized like a
// separate image: the pixels around it do not matter.
func TestResizedCropReadsTheBoxAlone(t *testing.T) {
	for _, s := range everySampling() {
		for _, l := range []tensor.Layout{tensor.HWC, tensor.CHW} {
			x := randomImage(t, tensor.Uint8, l, 30, 40, 3)
			axis := 0
			if l == tensor.CHW {
				axis = 1
			}
			v, err := x.Slice(axis, 4, 21)
			require.NoError(t, err)
			v, err = v.Slice(axis+1, 7, 30)
			require.NoError(t, err)
			want, err := run(newContext(), s.resize(9, 31), v.Clone())
			require.NoError(t, err)
			op := NewResizedCrop(4, 7, 17, 23, 9, 31)
			op.Interpolation, op.Backend, op.NoAntialias = s.interp, s.backend, !s.antialias
			got, err := run(newContext(), op, x)
			require.NoError(t, err)
			require.Equal(t, want[0].Data, got[0].Data, "%v %v", s, l)
		}
	}
}

// TestResizedCropOfView checks that a strided view is cropped like its copy.
func TestResizedCropOfView(t *testing.T) {
	x := randomImage(t, tensor.Float32, tensor.HWC, 30, 40, 3)
	v, err := x.Transposed()
	require.NoError(t, err)
	v, err = v.Slice(2, 3, 33)
	require.NoError(t, err)
	op := NewResizedCrop(1, 2, 20, 28, 11, 13)
	want, err := run(newContext(), op, v.Clone())
	require.NoError(t, err)
	got, err := run(newContext(), op, v)
	require.NoError(t, err)
	require.Equal(t, want[0].Data, got[0].Data)
}

func TestResizedCropParameters(t *testing.T) {
	for name, o := range map[string]*ResizedCrop{
		"top":     NewResizedCrop(-1, 0, 1, 1, 1, 1),
		"left":    NewResizedCrop(0, -1, 1, 1, 1, 1),
		"far":     NewResizedCrop(0, math.MaxInt, 1, 1, 1, 1),
		"height":  NewResizedCrop(0, 0, 0, 1, 1, 1),
		"width":   NewResizedCrop(0, 0, 1, -2, 1, 1),
		"out":     NewResizedCrop(0, 0, 1, 1, 0, 1),
		"out far": NewResizedCrop(0, 0, 1, 1, 1, math.MaxInt),
	} {
		require.ErrorIs(t, o.Validate(), ErrParam, name)
	}
	var out [1]tensor.Desc
	in := []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 10, 12, 3)}
	require.NoError(t, NewResizedCrop(2, 3, 8, 9, 4, 4).Infer(out[:], in))
	require.ErrorIs(t, NewResizedCrop(3, 3, 8, 9, 4, 4).Infer(out[:], in), ErrInput)
	require.ErrorIs(t, NewResizedCrop(2, 4, 8, 9, 4, 4).Infer(out[:], in), ErrInput)
}

func TestResizedCropAllocations(t *testing.T) {
	x := randomImage(t, tensor.Uint8, tensor.HWC, 50, 60, 3)
	y, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 24, 24, 3))
	require.NoError(t, err)
	c := newContext()
	src, dst := []*tensor.Tensor{x}, []*tensor.Tensor{y}
	ops := []*ResizedCrop{NewResizedCrop(1, 2, 40, 41, 24, 24), NewResizedCrop(5, 0, 33, 58, 24, 24)}
	require.Zero(t, testing.AllocsPerRun(3, func() {
		for _, op := range ops {
			c.Begin()
			if op.Apply(c, dst, src) != nil {
				t.Fail()
			}
		}
	}))
}
