package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomGaussianBlurWrong(t *testing.T) {
	refusesParam(t, "kernel_height is 4, want an odd number", NewRandomGaussianBlur(4))
	refusesParam(t, "sigma is 2 to 1, want a range within 0 to 10000", &RandomGaussianBlur{3, 3, Range{2, 1}, Torch})
	refusesParam(t, "want 0.001 to 10000 with backend torch", &RandomGaussianBlur{3, 3, Range{0, 1}, Torch})
	refusesParam(t, "kernel_height 3, kernel_width 3, want 0 with backend pillow", &RandomGaussianBlur{3, 3, Range{0, 1}, Pillow})
	refusesParam(t, "kernel_height and sigma_y are 0", &RandomGaussianBlur{0, 0, Range{0, 1}, OpenCV})
	refusesInput(t, "want more than 2 x 2 pixels", NewRandomGaussianBlur(5), tensor.Image(tensor.Uint8, tensor.HWC, 2, 9, 3))
}

func ExampleRandomGaussianBlur() {
	op := &RandomGaussianBlur{Sigma: Range{0.1, 2}, Backend: Pillow} // SimCLR's, on Pillow images
	fmt.Println(exampleDraw(op, 0))
	// Output: [{"op":"gaussian_blur","version":1,"params":{"kernel_height":0,"kernel_width":0,"sigma_y":1.053790131463779,"sigma_x":1.053790131463779,"backend":"pillow"}}]
}
