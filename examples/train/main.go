// Command train prints the batches of one epoch over a folder of images, one
// folder for each class.
//
//	go run ./examples/train testdata/datasets/imagefolder/flat
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pipeline"
	t "github.com/infer-prep/infer-prep/transforms"
)

func main() {
	flag.Parse()
	augment := datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(224, 224), t.NewRandomHorizontalFlip(), t.NewToTensor())
	ds := dataset.From(imagefolder.New(flag.Arg(0))).Shuffle().Map(augment).Batch(2)
	data, err := dataset.Build(context.Background(), ds, dataset.Options{Seed: 42})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	for batch, err := range pipeline.All(context.Background(), data, pipeline.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column("image").Desc, batch.Column("label").Desc)
	}
}
