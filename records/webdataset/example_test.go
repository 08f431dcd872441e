package webdataset_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/records/webdataset"

	"github.com/infer-prep/infer-prep/store"
)

// Write shards with their indexes, and read the last one.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, folder := context.Background(), filepath.ToSlash(dir)
	w, err := webdataset.NewWriter(ctx, store.Local, folder+"/data-%05d.tar", webdataset.WriterOptions{Count: 4, Index: true})
	if err != nil {
		panic(err)
	}
	for i := range 10 {
		s := webdataset.Sample{Key: fmt.Sprintf("%04d", i), Fields: []webdataset.Field{{Ext: "cls", Data: fmt.Append(nil, i%3)}}}
		if err := w.Write(&s); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	shards, err := webdataset.Shards(ctx, store.Local, folder+"/data-{00000..00002}.tar", nil)
	if err != nil {
		panic(err)
	}
	r, err := webdataset.Open(ctx, store.Local, shards[2], webdataset.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for {
		s, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		class, _ := s.Get("cls")
		fmt.Println(s.Key, string(class), filepath.Base(s.Shard))
	}
	// Output:
	// 0008 2 data-00002.tar
	// 0009 0 data-00002.tar
}
