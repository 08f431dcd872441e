package celeba_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/celeba"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the attributes of the photos for validation.
func Example() {
	source := celeba.New("../../../testdata/datasets/celeba")
	source.Usage = "valid"
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Project("attr"), dataset.Options{})
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
		fmt.Println(sample.Key, tensor.View[int32](&sample.Column("attr").Tensor))
	}
	// Output:
	// attr int32 (4,)
	// 000003.jpg [1 1 0 0]
	// 000007.jpg [1 0 1 0]
}
