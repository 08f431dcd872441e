package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestDataMask(t *testing.T) {
	x := pixelsOf[uint16](t, tensor.Uint16, tensor.HWC, 1, 3, 2, 0, 0, 0, 7, 7, 7)
	for _, c := range []struct {
		op   DataMask
		want []byte
	}{
		{DataMask{NoData: []float64{0}}, []byte{0, 255, 255}},
		{DataMask{NoData: []float64{0}, Rule: MaskAll}, []byte{0, 0, 255}},
		{DataMask{NoData: []float64{0}, Rule: MaskEach}, []byte{0, 0, 0, 255, 255, 255}},
		{DataMask{NoData: []float64{0, 7}, Rule: MaskEach}, []byte{0, 255, 0, 0, 255, 0}},
	} {
		require.Equal(t, c.want, applyOne(t, &c.op, x).Data, "%v", c.op)
	}
	nan := float32(math.NaN())
	y := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 2, 1, 3, nan, float32(math.Inf(-1)), nan, 1, 1, float32(math.Copysign(0, -1)))
	require.Equal(t, []byte{0, 255, 0, 255, 255, 255}, applyOne(t, &DataMask{NaN: true, Rule: MaskEach}, y).Data)
	require.Equal(t, []byte{255, 255, 255, 255, 255, 0}, applyOne(t, &DataMask{NoData: []float64{0}, Rule: MaskEach}, y).Data)
	require.Equal(t, []byte{255, 255}, applyOne(t, &DataMask{NoData: []float64{0}, NaN: true}, y).Data)
	require.Equal(t, []byte{0, 0}, applyOne(t, &DataMask{NoData: []float64{0}, NaN: true, Rule: MaskAll}, y).Data)
	// Each type has no data where it was filled with the value.
	for d := tensor.Uint8; d <= tensor.Bool; d++ {
		z, err := tensor.New(tensor.Image(d, tensor.HWC, 1, 2, 1))
		require.NoError(t, err)
		putNumber(z.Data, d, 1)
		require.Equal(t, []byte{0, 255}, applyOne(t, NewDataMask(1), z).Data, "%v", d)
	}

	refusesParam(t, "want a no-data value", NewDataMask())
	refusesParam(t, "rule is", &DataMask{NaN: true, Rule: 9})
	refusesParam(t, "no_data[0] is NaN", NewDataMask(math.NaN()))
	refusesInput(t, "want an image", NewDataMask(0), vector)
	refusesInput(t, "want a floating-point image", &DataMask{NaN: true}, rgb8)
	refusesInput(t, "cannot hold no_data[0] = -9999", NewDataMask(-9999), rgb8)
	refusesInput(t, "no_data has 2 values", NewDataMask(0, 1), rgb8)
}

func ExampleDataMask() {
	y := exampleRun(NewDataMask(0), exampleBytes(1, 2, 2, 0, 0, 0, 9))[0]
	fmt.Println(y.Desc, y.Data)
	// Output: uint8 HWC (1, 2, 1) [0 255]
}
