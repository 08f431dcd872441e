package expvars_test

import (
	"context"
	"expvar"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pipeline/expvars"
	"github.com/infer-prep/infer-prep/tensor"
)

// A program that serves HTTP shows the variable at /debug/vars.
func ExamplePublish() {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(6)})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(inmemory.New(tensor.Named{Name: "x", T: x})).Batch(3), dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer built.Close()
	run, err := pipeline.New(built, pipeline.Options{Workers: 2}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Close()
	if err := expvars.Publish("reading", run); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(expvar.Get("reading"))
	// Output:
	// []
}
