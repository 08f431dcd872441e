package voc_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/voc"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the images of the list train with their boxes.
func Example() {
	source := voc.New("../../../testdata/datasets/voc/VOCdevkit/VOC2012", "train")
	source.ClassIndexing = map[string]int32{"dog": 0, "person": 1}
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Project("image", "bbox", "label"), dataset.Options{})
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
		bbox, label := &sample.Column("bbox").Tensor, &sample.Column("label").Tensor
		fmt.Println(sample.Key, tensor.View[float32](bbox), tensor.View[int32](label))
	}
	// Output:
	// image bytes
	// bbox float32 (?, 4)
	// label int32 (?, 1)
	// 2007_000063 [1 1 7 5] [0]
	// 2007_000027 [1 2 6 4 2 1 6 4] [1 0]
}
