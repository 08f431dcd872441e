package webdataset_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read images, metadata and classes, and skip samples that lack any of them.
func Example() {
	source := webdataset.New("../../testdata/webdataset/writer.tar")
	source.ColumnNames = []string{"image", "meta", "label"}
	source.Fields = [][]string{{"jpg", "png"}, {"json"}, {"cls"}}
	source.ColumnTypes = []string{"bytes", "text", "int"}
	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source), dataset.Options{OnError: dataset.SkipOnError})
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
		image, meta := sample.Column("image").Data, string(sample.Column("meta").Data)
		label := &sample.Column("label").Tensor
		fmt.Println(filepath.Base(sample.Key), len(image), meta, tensor.View[int64](label)[0])
	}
	fmt.Println(run.Skipped(), "samples skipped")
	// Output:
	// image bytes
	// meta bytes
	// label int64 ()
	// writer.tar@000000 600 {} 7
	// 4 samples skipped
}
