package tfrecord_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/records/tfrecord"
)

// Write two records to a file, and read them with their positions.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.tfrecord")

	f, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	w := tfrecord.NewWriter(f, 0)
	for i := range 2 {
		if err := w.Write(fmt.Appendf(nil, "record %d", i)); err != nil {
			panic(err)
		}
	}
	if err := f.Close(); err != nil {
		panic(err)
	}

	f, err = os.Open(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	r := tfrecord.NewReader(f, tfrecord.Options{Name: name})
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		fmt.Println(r.Offset(), string(b))
	}
	// Output:
	// 0 record 0
	// 24 record 1
}
