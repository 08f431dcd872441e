package flowers102_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/flowers102"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Read the images for validation and batch them.
func Example() {
	source := flowers102.New("../../../testdata/datasets/flowers102")
	source.Usage = "valid"
	resize := datagraph.New(transforms.NewDecode(), transforms.NewResize(32, 32))
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Map(resize).Batch(2), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for batch, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		image, label := &batch.Column("image").Tensor, &batch.Column("label").Tensor
		fmt.Println(image.Desc, tensor.View[int32](label))
	}
	// Output:
	// uint8 (2, 32, 32, 3) [0 101]
}
