package modelbundle_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/transforms"
)

// Pack a model with its preprocessing and a golden sample, and verify the
// bundle.
func Example() {
	g := datagraph.New(transforms.NewDecode(), transforms.NewResize(32, 32), transforms.NewToTensor()).Rename("pixel_values")
	image, err := os.ReadFile("../testdata/images/jpeg_base_420.jpg")
	if err != nil {
		log.Fatal(err)
	}
	golden, err := modelbundle.MakeGolden(g, "jpeg_base_420.jpg", image, codec.DefaultLimits())
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	err = modelbundle.Create(&file, &modelbundle.Content{
		Graph: g, Versions: map[string]string{"torchvision": "0.29.2"},
		Models:  []modelbundle.Model{{Name: "net.onnx", Format: "onnx", Data: []byte("…")}},
		Goldens: []modelbundle.Golden{golden},
	})
	if err != nil {
		log.Fatal(err)
	}

	b, err := modelbundle.Open(file.Bytes(), modelbundle.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range b.Sections() {
		fmt.Println(s.Name)
	}
	fmt.Println(b.Expected()[0].Outputs[0].Desc)
	fmt.Println("verified:", b.Verify(context.Background()) == nil)
	// Output:
	// golden/jpeg_base_420.jpg
	// graph
	// model/net.onnx
	// float32 CHW (3, 32, 32)
	// verified: true
}
