package dataset_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pullpipe"
)

// Batch utterances of 1 to 9 frames by a budget of 12 frames, padding included.
func ExampleBudgetBatch() {
	d := dataset.From(&vectors{Lengths: []int{3, 4, 2, 9, 1, 1, 5}})
	b, err := dataset.Build(context.Background(), d.BudgetBatch("v", 12, dataset.PadColumn{Column: "v", Shape: []int{-1}}), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	p, err := pullpipe.New(b, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	for {
		s, err := p.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Column("v").Shape)
	}
	// Output:
	// (3, 4)
	// (1, 9)
	// (2, 1)
	// (1, 5)
}
