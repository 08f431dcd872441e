package textfile_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/textfile"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Read the lines of several files; ** matches folders at any depth.
func Example() {
	source := textfile.New("../../testdata/datasets/textfile/sub/**/*.txt", "../../testdata/datasets/textfile/b.txt")
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
		fmt.Printf("%s %q\n", filepath.Base(sample.Key), sample.Column("text").Data)
	}
	// Output:
	// text bytes
	// b.txt@0 "first"
	// b.txt@6 "second"
	// b.txt@15 " third "
	// b.txt@24 "last without end"
	// c.txt@0 "c1"
	// c.txt@3 "c2"
	// d.txt@0 "d1"
}

// Batches of token ids: the words of each line, padded or cut to four.
func Example_tokens() {
	words := transforms.NewTokenize(transforms.TokenWords, "[PAD]", "[UNK]", "first", "last", "end")
	words.Unknown = 1
	g := &datagraph.Graph{Inputs: []datagraph.Column{{Name: "text", Desc: tensor.Encoded()}}, Outputs: []string{"ids"}}
	g.Then(words, []string{"text"}, []string{"ids"})
	g.Then(transforms.NewPadEnd(4), []string{"ids"}, []string{"ids"})
	ds := dataset.From(textfile.New("../../testdata/datasets/textfile/b.txt")).MapColumns(g, []string{"text"}, []string{"ids"}).Batch(4)

	ctx := context.Background()
	built, err := dataset.Build(ctx, ds, dataset.Options{})
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
		ids := &batch.Column("ids").Tensor
		fmt.Println(ids.Desc, tensor.View[int32](ids))
	}
	// Output:
	// int32 (4, 4) [2 0 0 0 1 0 0 0 1 0 0 0 3 1 4 0]
}
