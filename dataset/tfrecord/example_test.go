package tfrecord_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/tfrecord"
	"github.com/infer-prep/infer-prep/pullpipe"
	records "github.com/infer-prep/infer-prep/records/tfrecord"
)

// Write a file of three records, and read all files of its folder.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "train.tfrecord"))
	if err != nil {
		log.Fatal(err)
	}
	w := records.NewWriter(f, 0)
	for i := range 3 {
		if err := w.Write(fmt.Appendf(nil, "record %d", i)); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(tfrecord.New(dir)), dataset.Options{})
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
		fmt.Println(filepath.Base(sample.Key), string(sample.Column("data").Data))
	}
	// Output:
	// data bytes
	// train.tfrecord@0 record 0
	// train.tfrecord@24 record 1
	// train.tfrecord@48 record 2
}
