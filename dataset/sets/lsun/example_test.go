package lsun_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/infer-prep/infer-prep/codec/webp"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/lsun"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Decode the photos of two classes.
func Example() {
	ctx := context.Background()
	source := lsun.New("../../../testdata/datasets/lsun")
	source.Classes = []string{"bridge_val", "tower_val"}
	data := dataset.From(source).Map(datagraph.New(transforms.NewDecode()))
	built, err := dataset.Build(ctx, data, dataset.Options{})
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
		image, label := &sample.Column("image").Tensor, &sample.Column("label").Tensor
		fmt.Println(sample.Key, image.Desc, tensor.View[int32](label))
	}
	// Output:
	// bridge_val/499772a07cdbf9c3e66140407e3ecd530cc5d7aa uint8 HWC (5, 6, 3) [0]
	// bridge_val/a526884c78b2f5919ae27dd8fcc301a53206e275 uint8 HWC (3, 7, 3) [0]
	// bridge_val/ac642d71d092d5853be1b1c55a79b7ad7dcdf54d uint8 HWC (4, 8, 3) [0]
	// tower_val/d02e305c9ac0f6798a15b0db38e152b33d6221b0 uint8 HWC (3, 6, 3) [1]
}
