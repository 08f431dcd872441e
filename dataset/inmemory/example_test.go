package inmemory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Serve an array of features and an array of labels, row by row.
func Example() {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 2)})
	if err != nil {
		log.Fatal(err)
	}
	copy(tensor.View[float32](x), []float32{0.5, 1, 1.5, 2, 2.5, 3})
	label, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(3)})
	if err != nil {
		log.Fatal(err)
	}
	copy(tensor.View[int32](label), []int32{7, 8, 9})
	source := inmemory.New(tensor.Named{Name: "x", T: x}, tensor.Named{Name: "label", T: label})

	ctx := context.Background()
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
		fmt.Println(tensor.View[float32](&sample.Column("x").Tensor), tensor.View[int32](&sample.Column("label").Tensor)[0])
	}
	// Output:
	// [0.5 1] 7
	// [1.5 2] 8
	// [2.5 3] 9
}

// Serve samples of different sizes: texts with their names.
func ExampleNewSamples() {
	text := dataset.Column{Name: "text", Desc: tensor.Desc{DType: tensor.Bytes}}
	source := inmemory.NewSamples([]dataset.Column{text},
		[]*tensor.Tensor{tensor.FromBytes([]byte("one line"))},
		[]*tensor.Tensor{tensor.FromBytes([]byte("another, longer line"))},
	)
	source.Keys = []string{"a.txt", "b.txt"}

	ctx := context.Background()
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
		fmt.Println(sample.Key, string(sample.Column("text").Data))
	}
	// Output:
	// a.txt one line
	// b.txt another, longer line
}
