package pullpipe_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// A run stops after a batch; another run resumes from its state.
func Example() {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(6)})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 6 {
		tensor.View[int32](x)[i] = int32(i)
	}
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(inmemory.New(tensor.Named{Name: "x", T: x})).Batch(2), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()

	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	batch, err := run.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[int32](&batch.Column("x").Tensor))
	state := run.State()
	if err := run.Close(); err != nil {
		log.Fatal(err)
	}

	resumed, err := pullpipe.New(built, state)
	if err != nil {
		log.Fatal(err)
	}
	defer resumed.Close()
	for batch, err := range resumed.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tensor.View[int32](&batch.Column("x").Tensor))
	}
	// Output:
	// [0 1]
	// [2 3]
	// [4 5]
}
