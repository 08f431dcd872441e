package pack_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// A folder with one subfolder per class becomes a RecordIO file with an index.
// Images are resized and encoded again, as PNG.
func ExampleRecordIO() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	const root = "../testdata/datasets/imagefolder/flat"
	lists, classes, _, err := pack.Lists(ctx, store.Local, root, pack.ListOptions{Recursive: true, TrainRatio: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &pack.RecordIO{Root: root, Image: pack.ImageOptions{Encoding: pack.PNG, Resize: 32}, OnError: pack.SkipOnError}
	for _, l := range lists {
		p.Outputs = append(p.Outputs, pack.RecordIOOutput{Name: filepath.Join(dir, "photos"+l.Suffix), Items: l.Items})
	}
	report, err := p.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(classes, report.Records, report.Skipped)
	files, err := os.ReadDir(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// [Dogs birds cats] 4 0
	// photos.idx
	// photos.rec
}

// The same folder becomes tar files for webdataset, with at most two samples
// each. The images keep their bytes.
func ExampleShards() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	samples, err := pack.ClassSamples(ctx, store.Local, "../testdata/datasets/imagefolder/flat", dir, pack.ImageOptions{Encoding: pack.PassThrough})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer samples.Close()
	p := &pack.Shards{Samples: samples, Dir: dir, Count: 2}
	report, err := p.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range report.Shards {
		fmt.Println(filepath.Base(s.Name), s.Samples)
	}
	// Output:
	// data-00000.tar 2
	// data-00001.tar 2
	// data-00002.tar 1
}
