package dataset_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// feedback is a callback of a training: it collects the losses of the lists of
// a feedback policy, and changes the weights after each epoch.
type feedback struct {
	policy string
	sums   []float64
	counts []float64
}

// stepEnd adds the losses of a batch.
func (f *feedback) stepEnd(lists []int32, losses []float64) {
	for i, k := range lists {
		f.sums[k] += losses[i]
		f.counts[k]++
	}
}

// epochEnd gives more weight to the lists with larger losses: the rate is
// negative.
func (f *feedback) epochEnd(run *dataset.Run) error {
	losses := make([]float64, len(f.sums))
	for k := range losses {
		losses[k] = math.NaN() // of a list without samples
		if f.counts[k] > 0 {
			losses[k] = f.sums[k] / f.counts[k]
		}
	}
	clear(f.sums)
	clear(f.counts)
	weights, err := run.Weights(f.policy)
	if err != nil {
		return err
	}
	if weights, err = transforms.UpdateWeights(weights, losses, -1, 0.1); err != nil {
		return err
	}
	return run.SetWeights(f.policy, weights)
}

// A training changes the weights of a feedback policy after each epoch.
func ExampleRun_SetWeights() {
	source := fakeimage.New()
	source.Images, source.Height, source.Width = 200, 8, 8
	policy := transforms.NewFeedbackPolicy("aug").
		Policy(1, transforms.NewRandomHorizontalFlip()).
		Policy(1, transforms.NewRandomErasing())
	g := datagraph.New(policy, transforms.NewPolicyIndex("aug"), transforms.NewToTensor())
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 8, 8, 3)
	g.Outputs = []string{"image", "policy"}

	ctx := context.Background()
	built, err := dataset.Build(ctx, dataset.From(source).Shuffle().Map(g).Batch(50), dataset.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	p, err := pullpipe.New(built, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	callback := &feedback{"aug", make([]float64, 2), make([]float64, 2)}
	for p.Epoch() < 3 {
		batch, err := p.Next(ctx)
		if err == io.EOF {
			weights, _ := p.Weights("aug")
			fmt.Printf("epoch %d: weights %.2f, samples %v\n", p.Epoch(), weights, callback.counts)
			if err := callback.epochEnd(p); err != nil {
				log.Fatal(err)
			}
			if err := p.NextEpoch(); err != nil { // p.State() has the weights
				log.Fatal(err)
			}
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		lists := tensor.View[int32](&batch.Column("policy").Tensor)
		callback.stepEnd(lists, train(lists))
	}
	// Output:
	// epoch 0: weights [1.00 1.00], samples [94 106]
	// epoch 1: weights [0.33 0.67], samples [61 139]
	// epoch 2: weights [0.21 0.79], samples [44 156]
}

// train stands in for a training step. It returns the loss of each sample:
// erased images are harder.
func train(lists []int32) []float64 {
	losses := make([]float64, len(lists))
	for i, k := range lists {
		losses[i] = 0.2 + 0.8*float64(k)
	}
	return losses
}
