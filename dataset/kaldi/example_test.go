package kaldi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/kaldi"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the first matrices of an archive as float64.
func Example() {
	source := kaldi.New("../../testdata/kaldi/float.ark")
	source.DType = tensor.Float64 // the archive has float32
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Take(3), dataset.Options{})
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
		key, data := string(sample.Column("key").Data), &sample.Column("data").Tensor
		fmt.Println(key, data.Desc)
	}
	// Output:
	// key bytes
	// data float64 (?, ?)
	// one float64 (1, 1)
	// constant float64 (6, 3)
	// two float64 (2, 3)
}
