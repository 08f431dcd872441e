// Command iterate prints what an iterator of images of compat/mxnet gives, for
// interop.py.
//
//	iterate ITERATOR PARAMETER=VALUE...
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
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: iterate ITERATOR PARAMETER=VALUE...")
		os.Exit(2)
	}
	if err := iterate(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "iterate:", err)
		os.Exit(1)
	}
}

// open returns an iterator of parameters as Python writes them.
func open(ctx context.Context, name string, kwargs map[string]string) (mxnet.DataIter, error) {
	switch name {
	case "ImageRecordIter":
		p, err := mxnet.ParseImageRecordParams(kwargs)
		if err != nil {
			return nil, err
		}
		return mxnet.NewImageRecordIter(ctx, p)
	case "ImageDetRecordIter":
		p, err := mxnet.ParseImageDetRecordParams(kwargs)
		if err != nil {
			return nil, err
		}
		return mxnet.NewImageDetRecordIter(ctx, p)
	case "ImageIter":
		p, err := mxnet.ParseImageIterParams(kwargs)
		if err != nil {
			return nil, err
		}
		return mxnet.NewImageIter(ctx, p)
	case "ImageDetIter":
		p, err := mxnet.ParseImageDetIterParams(kwargs)
		if err != nil {
			return nil, err
		}
		return mxnet.NewImageDetIter(ctx, p)
	}
	return nil, fmt.Errorf("iterator %q, want ImageRecordIter, ImageDetRecordIter, ImageIter or ImageDetIter", name)
}

func iterate(ctx context.Context, name string, params []string) error {
	kwargs := map[string]string{}
	for _, p := range params {
		k, v, _ := strings.Cut(p, "=")
		kwargs[k] = v
	}
	it, err := open(ctx, name, kwargs)
	if err != nil {
		return err
	}
	defer it.Close()
	for n := 0; ; {
		b, err := it.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Data[0].Shape.At(0) - b.Pad {
			label, err := field(b.Label[0], i)
			if err != nil {
				return err
			}
			data, err := field(b.Data[0], i)
			if err != nil {
				return err
			}
			err = json.NewEncoder(os.Stdout).Encode(map[string]any{"key": fmt.Sprint(n), "fields": map[string]any{"label": label, "data": data}})
			if err != nil {
				return err
			}
			n++
		}
	}
}

// field returns row i of an input.
func field(t *tensor.Tensor, i int) (map[string]any, error) {
	row, err := t.Slice(0, i, i+1)
	if err != nil {
		return nil, err
	}
	shape := []int{}
	for a := 1; a < t.Shape.Rank(); a++ {
		shape = append(shape, t.Shape.At(a))
	}
	if len(shape) == 0 { // a single label is printed as a list
		shape = append(shape, 1)
	}
	return map[string]any{"dtype": t.DType.String(), "shape": shape, "sha256": fmt.Sprintf("%x", sha256.Sum256(row.Data[:row.Size()]))}, nil
}
