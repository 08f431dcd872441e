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

// Write shards with their indexes, and read the batches of one of two ranks.
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
	set, err := webdataset.OpenSet(ctx, store.Local, shards, webdataset.SetOptions{Rank: 1, Ranks: 2, Batch: 2})
	if err != nil {
		panic(err)
	}
	defer set.Close()
	fmt.Println(set.Len(), "of", set.Total())
	for {
		s, err := set.Next()
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
	// 4 of 10
	// 0004 1 data-00001.tar
	// 0005 2 data-00001.tar
	// 0006 0 data-00001.tar
	// 0007 1 data-00001.tar
}
