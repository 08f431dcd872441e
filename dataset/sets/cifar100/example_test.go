package cifar100_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/cifar100"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the images with their coarse labels only.
func Example() {
	source := cifar100.New("../../../testdata/datasets/cifar100")
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Project("image", "coarse_label").Batch(2), dataset.Options{})
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
		image, label := &batch.Column("image").Tensor, &batch.Column("coarse_label").Tensor
		fmt.Println(image.Shape, tensor.View[int32](label))
	}
	// Output:
	// image uint8 (?, 32, 32, 3)
	// coarse_label int32 (?,)
	// (2, 32, 32, 3) [19 12]
	// (1, 32, 32, 3) [5]
}
