package csv_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/csv"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the rows of files with a header, as text, integers and floats.
func Example() {
	source := csv.New("../../testdata/datasets/csv/header*.csv")
	source.ColumnTypes = []tensor.DType{tensor.Bytes, tensor.Int32, tensor.Float32}
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
	for _, c := range built.Columns() {
		fmt.Println(c.Name, c.Desc)
	}
	for sample, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		name := string(sample.Column("name").Data)
		count := tensor.View[int32](&sample.Column("count").Tensor)[0]
		score := tensor.View[float32](&sample.Column("score").Tensor)[0]
		fmt.Println(name, count, score)
	}
	// Output:
	// name bytes
	// count int32 ()
	// score float32 ()
	// ann 1 0.5
	// bob -2 1000
	// cat 7 0.25
	// dan 0 1.6777216e+07
}
