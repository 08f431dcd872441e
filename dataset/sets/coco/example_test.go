package coco_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/coco"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the boxes and categories of each image.
func Example() {
	source := coco.New("../../../testdata/datasets/coco/images", "../../../testdata/datasets/coco/instances.json")
	source.Task = coco.Detection // the default
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
		bbox, category := &sample.Column("bbox").Tensor, &sample.Column("category_id").Tensor
		fmt.Println(sample.Key, bbox.Shape, tensor.View[int64](category))
	}
	// Output:
	// image bytes
	// bbox float32 (?, 4)
	// category_id int64 (?, 1)
	// iscrowd int64 (?, 1)
	// 2.jpg (2, 4) [1 90]
	// 0.jpg (3, 4) [18 90 18]
	// 1.jpg (1, 4) [1]
	// 4.jpg (1, 4) [18]
	// 3.jpg (1, 4) [1]
}
