package kaldi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/records/kaldi"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Write an archive and its script, and read one matrix by its key.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, name := context.Background(), filepath.Join(dir, "feats.ark")

	archive, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	script, err := os.Create(kaldi.ScriptName(name))
	if err != nil {
		panic(err)
	}
	w := kaldi.NewWriter(archive, kaldi.WriterOptions{Script: script, Name: name})
	for i, key := range []string{"first", "second"} {
		t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 2)})
		if err != nil {
			panic(err)
		}
		for j := range 4 {
			tensor.View[float32](t)[j] = float32(10*i + j)
		}
		if err := w.Write(key, t); err != nil {
			panic(err)
		}
	}
	if err := archive.Close(); err != nil {
		panic(err)
	}
	if err := script.Close(); err != nil {
		panic(err)
	}

	s, err := kaldi.OpenScript(ctx, store.Local, kaldi.ScriptName(name), kaldi.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	i, ok := s.Find("second")
	if !ok {
		panic("no such key")
	}
	t, err := s.Read(ctx, i)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Len(), t.Shape, tensor.View[float32](t))
	// Output: 2 (2, 2) [10 11 12 13]
}
