package dataset_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// A definition is built once, and then run by an engine.
func Example() {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(7)})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 7 {
		tensor.View[int32](x)[i] = int32(i)
	}
	ds := dataset.From(inmemory.New(tensor.Named{Name: "x", T: x})).Skip(1).Batch(4)

	ctx := context.Background()
	built, err := dataset.Build(ctx, ds, dataset.Options{Seed: 42})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	fmt.Println(built.Len(), "batches of", built.Columns()[0].Name)
	for batch, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tensor.View[int32](&batch.Column("x").Tensor))
	}
	// Output:
	// 2 batches of x
	// [1 2 3 4]
	// [5 6]
}
