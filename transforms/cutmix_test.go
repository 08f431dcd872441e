package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCutmix(t *testing.T) {
	refusesParam(t, "windows[2] is -1", NewCutmix(0, 0, -1, 3))
	op := NewCutmix(0, 0, 1, 1)
	op.Windows = op.Windows[:3]
	refusesParam(t, "windows has 3 numbers", op)
	op = NewCutmix(0, 0, 1, 1)
	op.Layout = tensor.NoLayout
	refusesParam(t, "layout", op)
	img := floats(make([]float32, 2*3*4), 2, 1, 3, 4)
	labels := floats(make([]float32, 4), 2, 2)
	for text, op := range map[string]*Cutmix{
		"window 0 is 2 x 2 (height x width) at row 2, column 0, want one within 3 x 4": NewCutmix(2, 0, 2, 2),
		"parameters for 3": {Windows: make([]int, 12), Layout: tensor.CHW},
	} {
		_, err := run(newContext(), op, img, labels)
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, text)
	}
	_, err := run(newContext(), NewCutmix(0, 0, 1, 1), floats(make([]float32, 4), 2, 2), labels)
	require.ErrorContains(t, err, "four axes")
	// A window for each image.
	for i := range tensor.View[float32](img) {
		tensor.View[float32](img)[i] = float32(i)
	}
	copy(tensor.View[float32](labels), []float32{1, 0, 0, 1})
	out, err := run(newContext(), &Cutmix{Windows: []int{1, 2, 2, 2, 0, 0, 0, 0}, Layout: tensor.CHW}, img, labels)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 1, 2, 3, 4, 5, 18, 19, 8, 9, 22, 23}, tensor.View[float32](out[0])[:12])
	require.Equal(t, tensor.View[float32](img)[12:], tensor.View[float32](out[0])[12:])
	require.InDeltaSlice(t, []float32{2. / 3, 1. / 3, 0, 1}, tensor.View[float32](out[1]), 1e-6)
}

func ExampleCutmix() {
	images := floats([]float32{1, 1, 1, 1, 2, 2, 2, 2}, 2, 1, 2, 2)
	labels := floats([]float32{1, 0, 0, 1}, 2, 2)
	out, _ := run(newContext(), NewCutmix(0, 1, 2, 1), images, labels)
	fmt.Println(tensor.View[float32](out[0]), tensor.View[float32](out[1]))
	// Output: [1 2 1 2 2 1 2 1] [0.5 0.5 0.5 0.5]
}
