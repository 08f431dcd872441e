package onnx_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/onnx"
	"github.com/infer-prep/infer-prep/transforms"
)

// Export the steps after the resize and the crop, for a runtime that gets
// images of 224 x 224 RGB pixels.
func ExampleExport() {
	g, err := preset.Graph("clip")
	if err != nil {
		panic(err)
	}
	e, err := onnx.Export(g, onnx.Options{Form: onnx.Tail, Batch: true})
	if err != nil {
		panic(err)
	}
	fmt.Println("the host runs", len(e.Host.Steps), "steps")
	for _, p := range e.Inputs {
		fmt.Println("in ", p.Name, p.Desc)
	}
	for _, p := range e.Outputs {
		fmt.Println("out", p.Name, p.Desc)
	}
	// Output:
	// the host runs 3 steps
	// in  image uint8 HWC (224, 224, 3)
	// out pixel_values float32 CHW (3, 224, 224)
}

// Embed a graph in a model, and read it back.
func ExampleEmbed() {
	model, err := os.ReadFile("../testdata/onnx/tiny.onnx")
	if err != nil {
		panic(err)
	}
	g, err := preset.Graph("imagenet")
	if err != nil {
		panic(err)
	}
	with, err := onnx.Embed(model, g, nil)
	if err != nil {
		panic(err)
	}
	back, _, err := onnx.Extract(with)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(back.Steps), "steps,", back.Outputs)
	// Output:
	// 5 steps, [image]
}

// Put the steps after the resize and the crop in front of a model.
func ExampleMerge() {
	model, err := os.ReadFile("../testdata/onnx/tiny.onnx")
	if err != nil {
		panic(err)
	}
	g := datagraph.New(
		transforms.NewDecode(), transforms.NewResize(28, 28), transforms.NewToTensor(),
	).Rename("pixels")
	e, err := onnx.Merge(g, onnx.Options{Form: onnx.Tail}, model)
	if err != nil {
		panic(err)
	}
	fmt.Println("in      ", e.Inputs[0].Name, e.Inputs[0].Desc)
	fmt.Println("computed", e.Outputs[0].Name, e.Outputs[0].Desc)
	// Output:
	// in       image_in uint8 HWC (28, 28, 3)
	// computed pixels float32 CHW (3, 28, 28)
}

// Remove the embedded graph again.
func ExampleStrip() {
	model, err := os.ReadFile("../testdata/onnx/embedded.onnx")
	if err != nil {
		panic(err)
	}
	plain, err := onnx.Strip(model)
	if err != nil {
		panic(err)
	}
	_, _, err = onnx.Extract(plain)
	fmt.Println(errors.Is(err, onnx.ErrNoGraph))
	// Output:
	// true
}
