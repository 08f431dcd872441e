package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomPhotometricDistort(t *testing.T) {
	for _, name := range []string{"brightness", "contrast", "saturation", "hue", "probability", "backend"} {
		op := NewRandomPhotometricDistort()
		switch name {
		case "brightness":
			op.Brightness.Min = -1
		case "contrast":
			op.Contrast.Max = 0.1
		case "saturation":
			op.Saturation.Max = 1e7
		case "hue":
			op.Hue.Max = 0.6
		case "probability":
			op.Probability = 1.1
		default:
			op.Backend = MXNet
		}
		refusesParam(t, name, op)
	}
	refusesInput(t, "want dtype", NewRandomPhotometricDistort(), rgb32)
	refusesInput(t, "want [1 3] channels", NewRandomPhotometricDistort(), rgb8.WithChannels(4))

	all := NewRandomPhotometricDistort()
	all.Probability = 1
	ops, err := NewDraw(newContext()).Run(all, rng.Key{}.At(0), []tensor.Desc{rgb8.WithChannels(1)}, nil)
	require.NoError(t, err)
	require.Len(t, ops, 4, "one channel is not permuted")
}

func ExampleRandomPhotometricDistort() {
	for _, op := range exampleDraw(NewRandomPhotometricDistort(), 3) {
		fmt.Println(InfoOf(op).Name)
	}
	// Output:
	// adjust_hue
	// channel_permutation
}
