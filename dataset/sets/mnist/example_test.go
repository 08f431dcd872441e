package mnist_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/mnist"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the training images in shuffled batches.
func Example() {
	source := mnist.New("../../../testdata/datasets/mnist/mnist")
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Shuffle().Batch(2), dataset.Options{Seed: 1})
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
	// image uint8 (?, 28, 28, 1)
	// label int32 (?,)
	// (2, 28, 28, 1) [9 6]
	// (2, 28, 28, 1) [0 2]
}
