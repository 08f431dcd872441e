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
	mxnet := func(probability float64) *RandomGrayscale { return &RandomGrayscale{probability, MXNet} }
	refusesParam(t, "probability", mxnet(1.1))
	refusesInput(t, "want dtype", mxnet(0.5), rgb8)
	refusesInput(t, "want [3] channels", mxnet(0.5), rgb32.WithChannels(1))
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

func ExampleRandomGrayscale_mxnet() {
	fmt.Println(floatDraw(&RandomGrayscale{Probability: 1, Backend: MXNet}))
	// Output: [{"op":"color_matrix","version":1,"params":{"matrix":[0.21,0.72,0.07,0.21,0.72,0.07,0.21,0.72,0.07]}}]
}
