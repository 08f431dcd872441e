package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomGrayscale(t *testing.T) {
	refusesParam(t, "backend", &RandomGrayscale{0.5, 9})
	refusesInput(t, "want dtype", NewRandomGrayscale(), rgb32)
	refusesInput(t, "want [1 3] channels", NewRandomGrayscale(), rgb8.WithChannels(4))
	d := NewDraw(newContext())
	ops, err := d.Run(&RandomGrayscale{1, Torch}, rng.Key{}.At(0), []tensor.Desc{rgb8}, nil)
	require.NoError(t, err)
	require.Equal(t, []Op{&Grayscale{3, Torch}}, ops)
	ops, err = d.Run(&RandomGrayscale{1, Torch}, rng.Key{}.At(0), []tensor.Desc{rgb8.WithChannels(1)}, nil)
	require.NoError(t, err)
	require.Empty(t, ops, "gray already")
}

func ExampleRandomGrayscale() {
	fmt.Println(exampleDraw(&RandomGrayscale{Probability: 1}, 0))
	// Output: [{"op":"grayscale","version":1,"params":{"channels":3,"backend":"pillow"}}]
}
