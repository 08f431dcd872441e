package svhn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/svhn"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the training images one by one.
func Example() {
	ctx := context.Background()
	source := svhn.New("../../../testdata/datasets/svhn")
	built, err := dataset.Build(ctx, dataset.From(source), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for sample, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		image, label := &sample.Column("image").Tensor, &sample.Column("label").Tensor
		fmt.Println(sample.Key, image.Desc, tensor.View[int32](label))
	}
	// Output:
	// train:0 uint8 HWC (5, 7, 3) [0]
	// train:1 uint8 HWC (5, 7, 3) [1]
	// train:2 uint8 HWC (5, 7, 3) [9]
}
