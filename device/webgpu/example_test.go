//go:build !(js && wasm)

package webgpu_test

import (
	"context"
	"fmt"
	"log"
	"os"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/webgpu"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/tensor"
)

func Example() {
	d, err := webgpu.Open(webgpu.Options{})
	if err != nil {
		log.Fatal(err) // device.ErrUnavailable without a GPU
	}
	defer d.Close()
	g, err := preset.Graph("imagenet")
	if err != nil {
		log.Fatal(err)
	}
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := d.NewSession(p, device.Options{Least: device.Exact})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	b, err := os.ReadFile("photo.jpg")
	if err != nil {
		log.Fatal(err)
	}
	// The tensor stays on the GPU, for further work on d.GPU().Queue().
	out, err := s.PreprocessOnDevice(context.Background(), tensor.FromBytes(b))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out[0].Name, out[0].Desc, out[0].GPU.Size())
}
