package mindrecord_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/mindrecord"
	"github.com/infer-prep/infer-prep/pullpipe"
	records "github.com/infer-prep/infer-prep/records/mindrecord"
	"github.com/infer-prep/infer-prep/tensor"
)

// Write a file of images and names, and read only the names.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "train.mindrecord")
	w, err := records.Create(file, records.Schema{Fields: []records.Field{
		{Name: "image", Desc: tensor.Encoded()},
		{Name: "name", Desc: tensor.Encoded(), Text: true},
	}}, records.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		row := []tensor.Tensor{*tensor.FromBytes([]byte("JPEG data")), *tensor.FromBytes([]byte(name))}
		if err := w.Write(row); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	source := mindrecord.New(file)
	source.Columns = []string{"name"}
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
		fmt.Println(string(sample.Column("name").Data))
	}
	// Output:
	// name bytes
	// first
	// second
}
