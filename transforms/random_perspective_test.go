package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomPerspective(t *testing.T) {
	for _, v := range []float64{-0.1, 1.1, math.NaN()} {
		refusesParam(t, "distortion", NewRandomPerspective(v))
		op := NewRandomPerspective(0.5)
		op.Probability = v
		refusesParam(t, "probability", op)
	}
	op := NewRandomPerspective(1)
	refusesInput(t, "want sides of at least 2", op, rgb8.WithSize(1, 5))
	refusesInput(t, "want sides of at least 2", op, rgb8.WithSize(tensor.Unknown, 1))
	refusesInput(t, "want dtype", op, rgb32)
	op.Interpolation = Box
	refusesParam(t, "interpolation", op)

	// Corners that coincide are drawn again.
	op = NewRandomPerspective(1)
	op.Probability = 1
	for _, b := range []Backend{Pillow, OpenCV4} {
		op.Backend = b
		d := NewDraw(newContext())
		for n := range uint64(200) {
			d.Begin()
			in := []tensor.Desc{rgb8.WithSize(2, 2)}
			ops, err := d.Run(op, rng.NewKey(1, 2, "corners").At(n), in, nil)
			require.NoError(t, err)
			require.NoError(t, ops[0].Validate())
		}
	}
}

func ExampleRandomPerspective() {
	op := NewRandomPerspective(0.8)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// []
	// [{"op":"perspective","version":1,"params":{"start":[0,0,7,0,7,5,0,5],"end":[1,0,6,2,7,3,0,5],"coefficients":[],"interpolation":"bilinear","backend":"pillow","fill":[0]}}]
}
