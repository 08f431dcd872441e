package fakeimage_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Generate batches of small noise images.
func Example() {
	source := fakeimage.New()
	source.Images, source.Height, source.Width = 8, 32, 48
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Batch(4), dataset.Options{})
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
	for batch, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		image, label := &batch.Column("image").Tensor, &batch.Column("label").Tensor
		fmt.Println(image.Shape, tensor.View[int32](label))
	}
	// Output:
	// image uint8 (?, 32, 48, 3)
	// label int32 (?,)
	// (4, 32, 48, 3) [6 4 4 7]
	// (4, 32, 48, 3) [1 4 9 3]
}
