package paddle_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/compat/paddle"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var paths []string
	for i, rows := range []string{"x,label\n0.5,0\n1.5,1\n2.5,2\n", "x,label\n10.5,10\n"} {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("part%d.csv", i)))
		if err := os.WriteFile(paths[i], []byte(rows), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	columns := []dataset.Column{
		{Name: "x", Desc: tensor.Desc{DType: tensor.Float32}},
		{Name: "label", Desc: tensor.Desc{DType: tensor.Int64}},
	}
	r := paddle.OpenFiles(columns, paddle.FilesOptions{Threads: 2, Buffer: 16}, paths...).MultiPass(2).Batch(3).DoubleBuffer()
	run, err := r.Start(context.Background(), paddle.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for {
		s, err := run.ReadNext(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Column("x").Desc, tensor.View[int64](&s.Column("label").Tensor))
	}
	// Output:
	// float32 (3,) [0 10 1]
	// float32 (3,) [2 0 10]
	// float32 (2,) [1 2]
}
