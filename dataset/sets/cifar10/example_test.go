package cifar10_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/cifar10"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the test images in batches.
func Example() {
	source := cifar10.New("../../../testdata/datasets/cifar10")
	source.Usage = "test"
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Batch(2), dataset.Options{})
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
	// image uint8 (?, 32, 32, 3)
	// label int32 (?,)
	// (2, 32, 32, 3) [5 4]
}
