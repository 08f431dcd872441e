//go:build linux

// Command ours runs infer-prep for pipeline.py.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/infer-prep/infer-prep/bench/internal/peer"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	first := len(args) > 0 && args[0] == "-first"
	if first {
		args = args[1:]
	}
	if len(args) != 2 {
		return fmt.Errorf("%q: want [-first] DIR WORKERS", args)
	}
	workers, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	g := datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(224, 224), t.NewRandomHorizontalFlip(), t.NewToTensor(),
		t.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	ctx := context.Background()
	b, err := dataset.Build(ctx, dataset.From(imagefolder.New(args[0])).Shuffle().Map(g).Batch(32), dataset.Options{Seed: 1})
	if err != nil {
		return err
	}
	defer b.Close()
	p, err := pipeline.New(b, pipeline.Options{Workers: workers, StageWorkers: map[string]int{"batch/map/shuffle/image_folder": 1}}, nil)
	if err != nil {
		return err
	}
	defer p.Close()
	if first {
		s, err := p.Next(ctx)
		if err != nil {
			return err
		}
		x := s.Column("image")
		fmt.Printf("%v", x.DType)
		for i := range x.Shape.Rank() {
			fmt.Printf(" %d", x.Shape.At(i))
		}
		fmt.Println()
		return nil
	}
	epoch := func() (images int, err error) {
		for {
			s, err := p.Next(ctx)
			if err == io.EOF {
				return images, p.NextEpoch()
			}
			if err != nil {
				return 0, err
			}
			images += len(tensor.View[int32](&s.Column("label").Tensor))
		}
	}
	if _, err := epoch(); err != nil {
		return err
	}
	return peer.Serve("this commit", peer.Answers{Go: epoch})
}
