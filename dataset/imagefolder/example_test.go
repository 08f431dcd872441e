package imagefolder_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Read the images of two classes, resize them and batch them.
func Example() {
	source := imagefolder.New("../../testdata/datasets/imagefolder/flat")
	source.ClassIndexing = map[string]int32{"cats": 0, "Dogs": 1}
	resize := datagraph.New(transforms.NewDecode(), transforms.NewResize(32, 32))
	ds := dataset.From(source).Map(resize).Batch(2)

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
	for _, c := range built.Columns() {
		fmt.Println(c.Name, c.Desc)
	}
	for batch, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		image, label := &batch.Column("image").Tensor, &batch.Column("label").Tensor
		fmt.Println(image.Desc, tensor.View[int32](label))
	}
	// Output:
	// image uint8 (?, 32, 32, 3)
	// label int32 (?,)
	// uint8 (2, 32, 32, 3) [1 1]
	// uint8 (2, 32, 32, 3) [0 0]
}
