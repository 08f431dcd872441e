package random_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/random"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Generate random features and labels.
func Example() {
	source := random.New(4,
		random.Column{Name: "x", DType: tensor.Float32, Shape: random.Shape{3}},
		random.Column{Name: "label", DType: tensor.Uint8},
	)
	source.Seed = 42

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
		x, label := &batch.Column("x").Tensor, &batch.Column("label").Tensor
		fmt.Println(x.Shape, tensor.View[uint8](label))
	}
	// Output:
	// x float32 (?, 3)
	// label uint8 (?,)
	// (2, 3) [37 225]
	// (2, 3) [214 178]
}
