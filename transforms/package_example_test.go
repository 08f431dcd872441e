package transforms_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The example runs two ops on an image of three gray pixels, and prints the
// parameters of another op as a graph states them.
func Example() {
	image, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 1, 3, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	copy(image.Data, []byte{0, 100, 255})

	out, err := eager.Apply(image, transforms.NewInvert(), transforms.NewHorizontalFlip())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Desc, out.Data)

	params, err := transforms.MarshalParams(transforms.NewCenterCrop(224, 224))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(params))

	// Output:
	// uint8 HWC (1, 3, 1) [0 155 255]
	// {"height":224,"width":224,"crop_rounding":"half_even","fill":[0]}
}
