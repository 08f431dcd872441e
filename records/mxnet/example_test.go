package mxnet_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/mxnet"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Write an image record file with its index, and read its keys and labels.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, name := context.Background(), filepath.Join(dir, "a.rec")

	format, err := records.Lookup(mxnet.Image)
	if err != nil {
		panic(err)
	}
	w, err := format.Create(ctx, store.Local, name, records.WriteOptions{Index: true})
	if err != nil {
		panic(err)
	}
	for i := range 2 {
		var r records.Record
		r.Reset(fmt.Sprint(10+i), "", -1)
		r.AddInt("label", int64(i))
		r.AddBytes("jpg", []byte("\xff\xd8\xff image"))
		if err := w.Write(&r); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	in, err := format.Open(ctx, store.Local, []string{name}, records.ReadOptions{})
	if err != nil {
		panic(err)
	}
	defer in.Close()
	for {
		var r records.Record
		if err := in.Next(&r); err == io.EOF {
			break
		} else if err != nil {
			panic(err)
		}
		label := r.Get("label").Value
		fmt.Println(r.Key, tensor.View[float32](&label)[0], len(r.Get("jpg").Value.Data))
	}
	index, err := os.ReadFile(mxnet.IndexName(name))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", index)
	// Output:
	// 10 0 9
	// 11 1 9
	// "10\t0\n11\t44\n"
}
