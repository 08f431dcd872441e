package device_test

import (
	"context"
	"fmt"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	_ "github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// The reference device runs a graph on the host and states how exactly.
func Example() {
	plan, err := datagraph.Compile(
		datagraph.New(transforms.NewDecode(), transforms.NewCenterCrop(8, 8)),
		datagraph.CompileOptions{Limits: codec.DefaultLimits()},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := device.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	s, err := d.Open(plan, device.Options{Least: device.Exact})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, p := range s.Placement() {
		fmt.Println(p.Op, p.Where, p.Class)
	}
	image, err := os.ReadFile("../importer/testdata/rgb.png")
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Preprocess(context.Background(), tensor.FromBytes(image))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].Desc)
	// Output:
	// decode cpu exact
	// center_crop cpu exact
	// uint8 HWC (8, 8, 3)
}
