package pullpipe_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/pullpipe"
	_ "github.com/infer-prep/infer-prep/sound/all" // every sound format
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Sound files become batches of samples of one length.
func Example_sounds() {
	var rows [][]*tensor.Tensor
	for _, name := range []string{"noise.flac", "speech.wav", "sweep.wav"} {
		file, err := os.ReadFile("../testdata/speech/sounds/" + name)
		if err != nil {
			log.Fatal(err)
		}
		rows = append(rows, []*tensor.Tensor{tensor.FromBytes(file)})
	}
	files := inmemory.NewSamples([]dataset.Column{{Name: "sound", Desc: tensor.Encoded()}}, rows...)
	g := datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono(), transforms.NewPadEnd(2500)).Rename("samples")

	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(files).Map(g).Batch(2), dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	run, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	for batch, err := range run.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column("samples").Desc)
	}
	// Output:
	// float32 (2, 2500)
	// float32 (1, 2500)
}
