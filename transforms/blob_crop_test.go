package transforms

import (
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestBlobCrop(t *testing.T) {
	refusesParam(t, "height", NewBlobCrop(0, 1))
	refusesParam(t, "width", NewBlobCrop(1, maxSide+1))
	refusesInput(t, "want dtype", NewBlobCrop(1, 1), tensor.Image(tensor.Int32, tensor.HWC, 3, 3, 3))
	refusesInput(t, "would become", NewBlobCrop(maxSide, maxSide), tensor.Image(tensor.Uint8, tensor.HWC, 1, 2, 3))
}
