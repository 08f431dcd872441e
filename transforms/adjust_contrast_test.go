package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustContrast(t *testing.T) {
	// The mean is 5.5: rounded to 6, but not for torch.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 1, 2, 1, 1, 10)
	require.Equal(t, []byte{3, 8}, applyOne(t, NewAdjustContrast(0.5), x).Data)
	require.Equal(t, []byte{3, 7}, applyOne(t, &AdjustContrast{0.5, Torch}, x).Data)
	require.Equal(t, []byte{0, 14}, applyOne(t, NewAdjustContrast(2), x).Data)
	refusesParam(t, "backend", &AdjustContrast{1, 9})
	refusesParam(t, "backend", &AdjustContrast{1, OpenCV4})
	refusesInput(t, "want dtype", NewAdjustContrast(1), rgb32)
}

func ExampleAdjustContrast() {
	fmt.Println(exampleRun(NewAdjustContrast(0.5), exampleBytes(1, 2, 1, 1, 10))[0].Data)
	// Output: [3 8]
}
