package tiles_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/tiles"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read windows of a scene in a shuffled order.
func Example() {
	source := tiles.New("../../codec/tiff/testdata/cog.tif")
	source.Size, source.Edge = 32, "shift"
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Shuffle().Take(3), dataset.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	fmt.Println(built.Len(), "windows of", built.Columns()[0].Desc)
	for s, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		window, transform := &s.Column("window").Tensor, &s.Column("transform").Tensor
		fmt.Println(tensor.View[int32](window), tensor.View[float64](transform))
	}
	// Output:
	// 3 windows of uint16 HWC (32, 32, 2)
	// [96 64 32 32] [500960 10 0 4.59936e+06 0 -10]
	// [128 0 32 32] [501280 10 0 4.6e+06 0 -10]
	// [160 32 32 32] [501600 10 0 4.59968e+06 0 -10]
}
