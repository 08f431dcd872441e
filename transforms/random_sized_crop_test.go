package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomSizedCrop(t *testing.T) {
	refusesParam(t, "height", NewRandomSizedCrop(0, 1))
	op := NewRandomSizedCrop(4, 4)
	op.Area = Range{1, 0.5}
	refusesParam(t, "area", op)
	op = NewRandomSizedCrop(4, 4)
	op.Ratio = Range{1, math.Inf(1)}
	refusesParam(t, "ratio", op)
	op = NewRandomSizedCrop(4, 4)
	op.Backend = OpenCV4
	refusesParam(t, "backend", op)
	refusesInput(t, "want an image", NewRandomSizedCrop(4, 4), vector)

	// The plain crop of 6 x 8.
	plain := func(h, w int) OpList {
		op := NewRandomSizedCrop(h, w)
		op.Area, op.Ratio = Range{1, 1}, Range{1, 1}
		return exampleDraw(op, 0)
	}
	resize := func(h, w int) *Resize {
		return &Resize{Fit: FitExact, Height: h, Width: w, Interpolation: Bilinear, Backend: OpenCV}
	}
	require.Empty(t, plain(6, 8))
	require.Equal(t, OpList{NewCrop(1, 2, 3, 3)}, plain(3, 3))
	require.Equal(t, OpList{resize(9, 12), NewCrop(0, 4, 9, 4)}, plain(9, 4))
	require.Equal(t, OpList{resize(7, 10), NewCrop(1, 0, 5, 10)}, plain(5, 10))
	require.Equal(t, OpList{resize(9, 12), resize(15, 20), NewCrop(3, 0, 9, 20)}, plain(9, 20))

	op = NewRandomSizedCrop(4, maxSide)
	op.Area, op.Ratio = Range{1, 1}, Range{1, 1}
	_, err := NewDraw(newContext()).Run(op, rng.NewKey(1, 1, "").At(0), []tensor.Desc{rgb8.WithSize(8, 2)}, nil)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "enlarged")
}

func ExampleRandomSizedCrop() {
	fmt.Println(exampleDraw(NewRandomSizedCrop(224, 224), 0))
	// Output: [{"op":"resized_crop","version":1,"params":{"top":0,"left":2,"height":5,"width":5,"out_height":224,"out_width":224,"interpolation":"bilinear","backend":"opencv","no_antialias":false}}]
}
