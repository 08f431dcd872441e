package imagerecord_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Read the second half of a file with an index.
func Example() {
	source := imagerecord.New("../../testdata/recordio/b.rec")
	source.Index = "../../testdata/recordio/b.idx"
	source.Part, source.Parts = 1, 2
	decode := datagraph.New(transforms.NewDecode())

	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Map(decode), dataset.Options{})
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
		image := &sample.Column("image").Tensor
		label := tensor.View[float32](&sample.Column("label").Tensor)
		id := tensor.View[int64](&sample.Column("id").Tensor)[0]
		fmt.Println(image.Desc, label, id)
	}
	// Output:
	// image uint8 HWC (?, ?, 3)
	// label float32 (1,)
	// id int64 ()
	// uint8 HWC (4, 4, 3) [28] 28
	// uint8 HWC (4, 4, 3) [29] 29
	// uint8 HWC (4, 4, 3) [30] 30
}
