package tflite_test

import (
	"fmt"
	"os"

	"github.com/infer-prep/infer-prep/importer/tflite"
	"github.com/infer-prep/infer-prep/transforms"
)

// Read describes the input of a model, Import returns the graph that makes it.
func ExampleRead() {
	data, err := os.ReadFile("../../testdata/configs/tflite/resnet.tflite")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := tflite.Read(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Name, m.DType, m.Height, m.Width)
	g, err := tflite.Import(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range g.Steps {
		fmt.Println(transforms.InfoOf(s.Op).Name)
	}
	// Output:
	// serving_default_x:0 float32 224 192
	// decode
	// resize_libyuv
	// rescale
	// normalize
	// multiply
}
