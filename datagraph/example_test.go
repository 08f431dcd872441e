package datagraph_test

import (
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Compile a graph once, and run it on many images. Each goroutine has a Runner
// of its own.
func Example() {
	g := datagraph.New(
		transforms.NewDecode(),
		transforms.NewResizeShortest(256),
		transforms.NewCenterCrop(224, 224),
		transforms.NewToTensor(),
	).Rename("pixel_values")
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := plan.NewRunner()
	for _, name := range []string{"jpeg_base_420.jpg", "jpeg_large.jpg"} {
		jpeg, err := os.ReadFile("../testdata/images/" + name)
		if err != nil {
			log.Fatal(err)
		}
		out, err := runner.Run(tensor.FromBytes(jpeg))
		if err != nil {
			log.Fatal(err)
		}
		// The Runner owns out[0], which is valid until the next Run.
		fmt.Println(plan.Outputs()[0].Name, out[0].Desc)
	}
	// Output:
	// pixel_values float32 CHW (3, 224, 224)
	// pixel_values float32 CHW (3, 224, 224)
}

// Form a batch of images of different sizes: padded to the largest, as DETR's
// models take them, with a mask of the images' pixels.
func ExamplePlan_Collate() {
	g := datagraph.New(transforms.NewDecode(), transforms.NewPadWithMask(0, 0))
	for _, column := range []string{"image", "mask"} {
		g.SetBatch(column, datagraph.Batching{Rule: datagraph.BatchPad})
	}
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner := plan.NewRunner()
	var samples [][]*tensor.Tensor
	for _, name := range []string{"jpeg_base_420.jpg", "jpeg_large.jpg"} {
		jpeg, err := os.ReadFile("../testdata/images/" + name)
		if err != nil {
			log.Fatal(err)
		}
		out, err := runner.Run(tensor.FromBytes(jpeg))
		if err != nil {
			log.Fatal(err)
		}
		var own []*tensor.Tensor
		for _, t := range out {
			own = append(own, t.Clone()) // the next Run overwrites out
		}
		samples = append(samples, own)
	}
	batch, err := plan.Collate(samples)
	if err != nil {
		log.Fatal(err)
	}
	for i, c := range plan.Outputs() {
		fmt.Println(c.Name, samples[0][i].Desc, samples[1][i].Desc, "->", batch[i].Desc)
	}
	// Output:
	// image uint8 HWC (53, 75, 3) uint8 HWC (310, 420, 3) -> uint8 (2, 310, 420, 3)
	// mask int64 (53, 75) int64 (310, 420) -> int64 (2, 310, 420)
}

// Limit the memory of a run, and switch a pass off.
func ExampleCompile() {
	g := datagraph.New(transforms.NewDecode(), transforms.NewCenterCrop(32, 32), transforms.NewInvert())
	limits := codec.DefaultLimits()
	limits.Bytes = 64 << 20
	for _, o := range []datagraph.CompileOptions{
		{},
		{Limits: limits, Disable: []datagraph.Pass{datagraph.RowStep}},
	} {
		plan, err := datagraph.Compile(g, o)
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range plan.Steps() {
			fmt.Println(s.Op, s.Passes)
		}
		fmt.Println()
	}
	// Output:
	// decode+center_crop+invert [pointwise-table region-decode row-step]
	//
	// decode+center_crop [region-decode]
	// invert [pointwise-table]
}
