package numpyslices_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/numpyslices"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the rows of two .npy files, and name the columns.
func Example() {
	source := numpyslices.New("../../testdata/datasets/numpyslices/image.npy", "../../testdata/datasets/numpyslices/box.npy")
	source.Names = []string{"image", "box"}
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Take(2), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for _, c := range built.Columns() {
		fmt.Println(c.Name, c.Desc)
	}
	for sample, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		image, box := &sample.Column("image").Tensor, &sample.Column("box").Tensor
		fmt.Println(tensor.View[uint8](image), tensor.View[float32](box))
	}
	// Output:
	// image uint8 (2, 3)
	// box float32 (4,)
	// [199 87 237 112 202 105] [-0.5684057 -1.2559611 0.97439647 -0.6752239]
	// [236 180 198 77 23 206] [1.21537 -0.070531145 0.23087198 0.5617544]
}
