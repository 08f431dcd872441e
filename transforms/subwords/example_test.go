package subwords_test

import (
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms/subwords"
)

// Split text by the files of a model such as GPT-2's.
func ExampleMerges() {
	vocab, err := os.ReadFile("testdata/vocab.json")
	if err != nil {
		log.Fatal(err)
	}
	merges, err := os.ReadFile("testdata/merges.txt")
	if err != nil {
		log.Fatal(err)
	}
	op, err := subwords.Merges(vocab, merges, false)
	if err != nil {
		log.Fatal(err)
	}
	g := &datagraph.Graph{Inputs: []datagraph.Column{{Name: "text", Desc: tensor.Encoded()}}, Outputs: []string{"ids"}}
	g.Then(op, []string{"text"}, []string{"ids"})
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	out, err := plan.NewRunner().Run(tensor.FromBytes([]byte("the license")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[int32](out[0]))
	// Output: [433 551]
}
