package manifest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/manifest"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
)

// Read the training images of two classes, with explicit class numbers.
func Example() {
	source := manifest.New("../../testdata/datasets/manifest/one.manifest")
	source.ClassIndexing = map[string]int32{"cat": 0, "dog": 1}
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
		file, label := sample.Column("image").Data, &sample.Column("label").Tensor
		fmt.Println(sample.Key, len(file), tensor.View[int32](label)[0])
	}
	// Output:
	// image bytes
	// label int32 ()
	// a.jpg 685 1
	// images/b.png 108 0
	// c.jpg 686 1
}
