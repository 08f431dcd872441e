// Command train reads an epoch of batches from a folder with one subfolder of
// images per class. It stops in the middle and resumes from the saved state.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/pipeline"
	t "github.com/infer-prep/infer-prep/transforms"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: train FOLDER")
	}
	augment := datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(224, 224), t.NewRandomHorizontalFlip(), t.NewToTensor(),
		t.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	ds := dataset.From(imagefolder.New(os.Args[1])).Shuffle().Map(augment).Batch(32)

	data, err := dataset.Build(context.Background(), ds, dataset.Options{Seed: 42})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	state, err := some(data, nil, (data.Len()+1)/2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stopped; resumed")
	if _, err := some(data, state, data.Len()); err != nil {
		log.Fatal(err)
	}
}

// some reads at most n batches, starting at a state, and returns the new state.
func some(data *dataset.Built, from *dataset.State, n int64) (*dataset.State, error) {
	p, err := pipeline.New(data, pipeline.Options{}, from)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	for range n {
		batch, err := p.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		images, labels := batch.Values[0], batch.Values[1]
		fmt.Println("step", p.Step(), images.Desc, labels.Desc) // step 1 float32 (32, 3, 224, 224) int32 (32)
	}
	return p.State(), nil
}
