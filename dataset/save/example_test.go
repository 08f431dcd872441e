package save_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/save"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	_ "github.com/infer-prep/infer-prep/records/webdataset"
)

// Write a folder of images to shards, and read the shards.
func Example() {
	dir, err := os.MkdirTemp("", "save")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	shards := save.New("webdataset", filepath.Join(dir, "train-%03d.tar"))
	shards.Count = 2
	source := imagefolder.New("../../testdata/datasets/imagefolder/flat")
	source.ClassIndexing = map[string]int32{"cats": 0, "Dogs": 1}
	written := count(dataset.Of(shards, dataset.From(source).Rename([]string{"image"}, []string{"jpg"})))

	// An int32 is an array; only an int64 is a webdataset's class.
	saved := webdataset.New(filepath.Join(dir, "train-*.tar"))
	saved.Fields, saved.ColumnTypes = [][]string{{"jpg"}, {"label.npy"}}, []string{"bytes", "npy:int32:0"}
	read := count(dataset.From(saved))
	files, err := os.ReadDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(written == read, written > 0, len(files) == (written+1)/2)
	// Output: true true true
}

// count returns the number of samples of a dataset.
func count(d *dataset.Dataset) (n int) {
	ctx := context.Background()
	built, err := dataset.Build(ctx, d, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for {
		_, err := run.Next(ctx)
		if err == io.EOF {
			return n
		}
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
}
