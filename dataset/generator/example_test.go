package generator_test

import (
	"context"
	"fmt"
	"iter"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/generator"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Generate the squares of 1 to 5 with a function.
func Example() {
	squares := func(epoch uint64) iter.Seq2[[]*tensor.Tensor, error] {
		return func(yield func([]*tensor.Tensor, error) bool) {
			x, err := tensor.New(tensor.Desc{DType: tensor.Int64})
			if err != nil {
				yield(nil, err)
				return
			}
			for i := int64(1); i <= 5; i++ {
				tensor.View[int64](x)[0] = i * i
				if !yield([]*tensor.Tensor{x}, nil) {
					return
				}
			}
		}
	}
	source := generator.NewFunc(generator.Definition{
		Columns: []dataset.Column{{Name: "square", Desc: tensor.Desc{DType: tensor.Int64}}},
		Start:   generator.Iter(squares),
	})

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
	for batch, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tensor.View[int64](&batch.Column("square").Tensor))
	}
	// Output:
	// [1 4]
	// [9 16]
	// [25]
}
