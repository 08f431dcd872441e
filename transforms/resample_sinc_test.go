package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestResampleSinc(t *testing.T) {
	in := floats([]float32{1, 2, 3, 4}, 2, 2)
	require.Equal(t, in.Data, applyOne(t, NewResampleSinc(8000, 8000), in).Data)
	require.Equal(t, tensor.Dims(2, 4), applyOne(t, NewResampleSinc(8000, 16000), in).Shape)
	require.Equal(t, tensor.Dims(2, 1), applyOne(t, NewResampleSinc(44100, 16000), in).Shape)

	refusesParam(t, "from_rate is 0 Hz", NewResampleSinc(0, 1))
	refusesParam(t, "width is 0, want 1 to 1024", &ResampleSinc{FromRate: 1, ToRate: 2, Rolloff: 1})
	refusesParam(t, "rolloff is 1.5", &ResampleSinc{FromRate: 1, ToRate: 2, Width: 6, Rolloff: 1.5})
	refusesParam(t, "whose kernels have more than 16777216 elements", NewResampleSinc(44100, 44101))
	refusesInput(t, "want a sound: float32 (samples) or (channels, samples)", NewResampleSinc(1, 2), vector)
	c := NewContext(codec.Limits{Bytes: 100})
	err := NewResampleSinc(3, 1).Apply(c, []*tensor.Tensor{floats(make([]float32, 10), 10)}, []*tensor.Tensor{floats(make([]float32, 30), 30)})
	require.ErrorIs(t, err, codec.ErrLimit)
}

func ExampleResampleSinc() {
	y := exampleRun(NewResampleSinc(16000, 8000), floats(make([]float32, 5), 5))[0]
	fmt.Println(y.Desc)
	// Output: float32 (3,)
}
