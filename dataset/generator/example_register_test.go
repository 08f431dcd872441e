package generator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/generator"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	generator.Register("countdown", generator.Definition{
		Columns: []dataset.Column{{Name: "text", Desc: tensor.Desc{DType: tensor.Bytes}}},
		Start:   generator.Iter(countdown),
	})
}

func countdown(epoch uint64) iter.Seq2[[]*tensor.Tensor, error] {
	return func(yield func([]*tensor.Tensor, error) bool) {
		for _, s := range []string{"three", "two", "one"} {
			if !yield([]*tensor.Tensor{tensor.FromBytes([]byte(s))}, nil) {
				return
			}
		}
	}
}

// Register a function, so that a definition read from JSON can name it.
func ExampleRegister() {
	definition, err := json.Marshal(dataset.From(generator.New("countdown")).Skip(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(definition))
	var read dataset.Dataset
	if err := json.Unmarshal(definition, &read); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	built, err := dataset.Build(ctx, &read, dataset.Options{})
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
		fmt.Println(string(sample.Column("text").Data))
	}
	// Output:
	// {"infer_prep_dataset":1,"top":{"node":"skip","version":1,"params":{"count":1},"in":[{"node":"generator","version":1,"params":{"name":"countdown"}}]}}
	// two
	// one
}
