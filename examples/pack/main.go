// Command pack packs a folder of images, one folder for each class, into tar
// shards for webdataset. The images keep their bytes.
//
//	go run ./examples/pack testdata/datasets/imagefolder/flat shards
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/infer-prep/infer-prep/pack"
	"github.com/infer-prep/infer-prep/store"
)

func main() {
	flag.Parse()
	images := pack.ImageOptions{Encoding: pack.PassThrough}
	samples, err := pack.ClassSamples(context.Background(), store.Local, flag.Arg(0), flag.Arg(1), images)
	if err != nil {
		log.Fatal(err)
	}
	defer samples.Close()
	report, err := (&pack.Shards{Samples: samples, Dir: flag.Arg(1), Count: 2}).Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Shards {
		fmt.Println(s.Name, s.Samples)
	}
}
