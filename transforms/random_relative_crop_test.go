package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomRelativeCrop(t *testing.T) {
	for says, set := range map[string]func(*RandomRelativeCrop){
		"probability 2, want 0 to 1":                      func(o *RandomRelativeCrop) { o.Probability = 2 },
		"scale is 0 to 2, want a range within 0 to 1":     func(o *RandomRelativeCrop) { o.Scale[0].Max = 2 },
		"ratio is -1 to 1, want a range within 0 to":      func(o *RandomRelativeCrop) { o.Ratio[0].Min = -1 },
		"overlap is 2 to 1, want a range":                 func(o *RandomRelativeCrop) { o.Overlap[0].Min = 2 },
		"sample_coverage has 0 values, want 1 or as many": func(o *RandomRelativeCrop) { o.SampleCoverage = nil },
		"object_coverage has 2 values, want 1 or as many": func(o *RandomRelativeCrop) { o.ObjectCoverage, o.Trials = make([]Range, 2), make([]int, 3) },
		"trials is 1001, want 0 to 1000":                  func(o *RandomRelativeCrop) { o.Trials[0] = 1001 },
		"as many as other parameters, at most 64":         func(o *RandomRelativeCrop) { o.Trials = make([]int, 65) },
		"coverage is 0.5, want 0 to 0 with keep center":   func(o *RandomRelativeCrop) { o.Coverage = 0.5 },
	} {
		op := NewRandomRelativeCrop()
		set(op)
		require.ErrorIs(t, op.Validate(), ErrParam)
		require.ErrorContains(t, op.Validate(), says)
	}
}

// drawRelative returns what an op draws for an image of 90 x 120 and relative
// boxes.
func drawRelative(op Random, sample uint64, boxes ...float32) []Op {
	x := floats(boxes, len(boxes)/4, 4)
	in := []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 90, 120, 3), x.Desc}
	ops, err := NewDraw(newContext()).Run(op, rng.NewKey(1, 0, "").At(sample), in, []*tensor.Tensor{nil, x})
	if err != nil {
		panic(err)
	}
	return ops
}

// TestRandomRelativeCropWithoutBoxes checks that boxes without area do not
// count, and that a window has pixels.
func TestRandomRelativeCropWithoutBoxes(t *testing.T) {
	op := NewRandomRelativeCrop()
	op.ObjectCoverage[0].Min = 1
	for i := range uint64(100) {
		require.Len(t, drawRelative(op, i, 0, 0, 0, 0, 0.5, 0.1, 0.5, 0.9), 1)
	}
	op.Scale[0].Max = 1e-6
	require.Empty(t, drawRelative(op, 1, 0, 0, 0, 0))
}

func ExampleRandomRelativeCrop() {
	op := NewRandomRelativeCrop()
	op.Scale[0].Min = 0.5
	fmt.Println(OpList(drawRelative(op, 3, 0.1, 0.2, 0.5, 0.6)))
	// Output: [{"op":"relative_window","version":1,"params":{"top":0.11450446397066116,"left":0.08239969611167908,"height":0.7840568423271179,"width":0.5880426168441772,"fill":[0],"keep":"center","coverage":0}}]
}
