// Command iterate prints what the ImageRecordIter of compat/mxnet gives, for
// interop.py.
//
//	iterate FILE.rec LABELS SIDE
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/compat/mxnet"
	"github.com/infer-prep/infer-prep/tensor"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: iterate FILE.rec LABELS SIDE")
		os.Exit(2)
	}
	if err := iterate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "iterate:", err)
		os.Exit(1)
	}
}

func iterate(file, labels, side string) error {
	p, err := mxnet.ParseImageRecordParams(map[string]string{
		"path_imgrec": file, "path_imgidx": strings.TrimSuffix(file, ".rec") + ".idx", "data_shape": fmt.Sprintf("(3,%s,%s)", side, side),
		"batch_size": "1", "dtype": "uint8", "label_width": labels, "round_batch": "False", "preprocess_threads": "1", "verbose": "False",
	})
	if err != nil {
		return err
	}
	it, err := mxnet.NewImageRecordIter(context.Background(), p)
	if err != nil {
		return err
	}
	defer it.Close()
	for n := 0; ; n++ {
		b, err := it.Next(context.Background())
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fields := map[string]any{"label": field(b.Label[0]), "data": field(b.Data[0])}
		if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"key": fmt.Sprint(n), "fields": fields}); err != nil {
			return err
		}
	}
}

// field returns one column of a batch of one row.
func field(t *tensor.Tensor) map[string]any {
	shape := []int{}
	for i := 1; i < t.Shape.Rank(); i++ {
		shape = append(shape, t.Shape.At(i))
	}
	if len(shape) == 0 { // a single label is printed as a list
		shape = append(shape, 1)
	}
	return map[string]any{"dtype": t.DType.String(), "shape": shape, "sha256": fmt.Sprintf("%x", sha256.Sum256(t.Data))}
}
