package records_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/records"
	_ "github.com/infer-prep/infer-prep/records/all" // registers the formats
	"github.com/infer-prep/infer-prep/store"
)

// Write a TFRecord file, detect its format, and print its records.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, name := context.Background(), filepath.Join(dir, "a.tfrecord")

	format, err := records.Lookup("tfrecord")
	if err != nil {
		panic(err)
	}
	w, err := format.Create(ctx, store.Local, name, records.WriteOptions{})
	if err != nil {
		panic(err)
	}
	for i := range 2 {
		var r records.Record
		r.Reset(fmt.Sprint(i), "", -1)
		r.AddBytes("data", fmt.Appendf(nil, "record %d", i))
		if err := w.Write(&r); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	format, err = records.Detect(ctx, store.Local, name)
	if err != nil {
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
		fmt.Println(format.Name, r.Key, string(r.Get("data").Value.Data))
	}
	// Output:
	// tfrecord 0 record 0
	// tfrecord 1 record 1
}
