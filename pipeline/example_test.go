package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// Two workers square numbers. The order does not depend on the workers.
func Example() {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(6)})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 6 {
		tensor.View[int32](x)[i] = int32(i)
	}
	square := func(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		n := tensor.View[int32](src[0])[0]
		return dst[0].SetInt32(n * n)
	}
	ds := dataset.From(inmemory.New(tensor.Named{Name: "x", T: x})).
		MapFunc(square, []string{"x"}, dataset.Column{Name: "x", Desc: tensor.Desc{DType: tensor.Int32}}).
		Batch(3)

	ctx := context.Background()
	built, err := dataset.Build(ctx, ds, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	for batch, err := range pipeline.All(ctx, built, pipeline.Options{Workers: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tensor.View[int32](&batch.Column("x").Tensor))
	}
	// Output:
	// [0 1 4]
	// [9 16 25]
}
