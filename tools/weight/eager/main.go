// Command eager makes a model's input of a JPEG file: the smallest program of
// package eager, for the test of tools/weight.
package main

import (
	"fmt"
	"os"

	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/transforms"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	t, err := eager.Apply(data, transforms.NewDecode(), transforms.NewResize(224, 224), transforms.NewToTensor(),
		transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	if err != nil {
		return err
	}
	fmt.Println(t.Desc)
	return nil
}
