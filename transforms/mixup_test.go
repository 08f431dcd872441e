package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMixup(t *testing.T) {
	refusesParam(t, "factors", NewMixup(2))
	refusesParam(t, "factors has 0 numbers", &Mixup{})
	refusesParam(t, "partners[1] is 2", &Mixup{Factors: []float64{1}, Partners: IndexList{0, 2}})
	refusesParam(t, "classes", &Mixup{Factors: []float64{1}, Classes: -1})
	op := NewMixup(0.5)
	img := floats([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	labels := floats([]float32{1, 0, 0, 1, 1, 0}, 3, 2)
	classes, err := tensor.Wrap(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(3)}, make([]byte, 24))
	require.NoError(t, err)
	fails := func(text string, op Op, in ...*tensor.Tensor) {
		t.Helper()
		_, err := run(newContext(), op, in...)
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, text)
	}
	fails("set classes", op, img, classes)
	fails("with classes", &Mixup{Factors: []float64{1}, Classes: 2}, img, labels)
	fails("2 labels for 3 images", op, img, floats([]float32{1, 0, 0, 1}, 2, 2))
	fails("parameters for 2", &Mixup{Factors: []float64{1, 1}}, img, labels)
	fails("2 partners", &Mixup{Factors: []float64{1}, Partners: IndexList{0, 1}}, img, labels)
	tensor.View[int64](classes)[1] = 2
	fails("label 1 of the batch is 2, want 0 to 1", &Mixup{Factors: []float64{1}, Classes: 2}, img, classes)
	tensor.View[int64](classes)[1] = 1
	// A factor for each image, and its own partner.
	out, err := run(newContext(), &Mixup{Factors: []float64{1, 0, 0.5}, Partners: IndexList{1, 2, 2}, Classes: 2}, img, classes)
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2, 5, 6, 5, 6}, tensor.View[float32](out[0]))
	require.Equal(t, []float32{1, 0, 1, 0, 1, 0}, tensor.View[float32](out[1]))
	_, err = run(newContext(), op, floats(nil, 0, 2), floats(nil, 0, 2))
	require.NoError(t, err)
}

func ExampleMixup() {
	images := floats([]float32{0, 8, 16, 24}, 2, 2)
	labels := floats([]float32{1, 0, 0, 1}, 2, 2)
	out, _ := run(newContext(), NewMixup(0.75), images, labels)
	fmt.Println(tensor.View[float32](out[0]), tensor.View[float32](out[1]))
	// Output: [4 12 12 20] [0.75 0.25 0.25 0.75]
}
