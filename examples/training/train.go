package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlcontext "github.com/gomlx/gomlx/pkg/ml/context"
	mltrain "github.com/gomlx/gomlx/pkg/ml/train"
	"github.com/gomlx/gomlx/pkg/ml/train/metrics"
	"github.com/gomlx/gomlx/pkg/ml/train/optimizers"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/onnx"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pipeline/gomlx"
)

// options are the flags of the command train.
type options struct {
	data, out                     string
	epochs, batch, workers, every int
	seed                          uint64
}

// epochResult is a point of the learning curve.
type epochResult struct {
	Epoch    uint64  `json:"epoch"`
	Loss     float64 `json:"loss"`     // mean cross entropy of the test images
	Accuracy float64 `json:"accuracy"` // share of the test images, 0 to 1
}

// prediction is the result for a test image.
type prediction struct {
	Path   string    `json:"path"`
	Label  string    `json:"label"` // of the data set
	Class  string    `json:"class"` // of the model
	SHA256 string    `json:"sha256"`
	Scores []float32 `json:"scores"`
}

// session is a training.
type session struct {
	o        options
	w        io.Writer
	data     *data
	graph    *datagraph.Graph
	inputs   [][]float32 // of the test images
	features [][]float32
	ctx      *mlcontext.Context
	head     *head
	curve    []epochResult
}

func (s *session) path(name string) string { return filepath.Join(s.o.out, name) }

// train trains until the last epoch, then writes the bundle and the pictures.
func train(ctx context.Context, o options, w io.Writer) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	s := &session{o: o, w: w}
	var err error
	if s.data, err = openData(ctx, o.data, o.out); err != nil {
		return err
	}
	g, notes, err := s.data.inferenceGraph(ctx)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(w, "inference graph:", n)
	}
	s.graph = g
	if s.inputs, err = s.data.tensors(g); err != nil {
		return err
	}
	for _, x := range s.inputs {
		s.features = append(s.features, extract(x))
	}
	if err := s.fit(ctx); err != nil {
		return err
	}
	return s.write()
}

// fit runs the epochs that are left.
func (s *session) fit(ctx context.Context) (err error) {
	checkpoint := s.path("checkpoint")
	from, err := gomlx.Open(checkpoint)
	if err != nil {
		return err
	}
	built, err := dataset.Build(ctx, s.data.definition(s.o.batch), dataset.Options{Seed: s.o.seed})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, built.Close()) }()
	mlctx := mlcontext.New()
	if err := mlctx.SetRNGStateFromSeed(int64(s.o.seed)); err != nil {
		return err
	}
	s.ctx = from.Restore(mlctx)
	s.head = newHead(s.o.seed, s.o.epochs*int(built.Len()), len(s.data.labels))
	// With several ops at a time, GoMLX v0.26.0 has a data race.
	backend, err := simplego.New("ops_sequential")
	if err != nil {
		return err
	}
	d, err := gomlx.New(ctx, built, gomlx.Options{
		Backend: backend, Labels: []string{"label", policy}, Inputs: []string{featureColumn.Name},
		Pipeline: pipeline.Options{Workers: s.o.workers}, From: from,
		EpochEnd: func(d *gomlx.Dataset, at dataset.Progress) error {
			if err := s.epochEnd(d, at); err != nil {
				return err
			}
			return d.Save(checkpoint, s.ctx)
		},
	})
	if errors.Is(err, dataset.ErrState) {
		return fmt.Errorf("%s: %w: want the data, -batch and -seed of the checkpoint, or another -out", checkpoint, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := s.loadCurve(d.Epoch()); err != nil {
		return err
	}
	feedback, err := gomlx.NewFeedback(d, policy, policy, -0.5, 0.2)
	if err != nil {
		return err
	}
	trainer := mltrain.NewTrainer(backend, s.ctx, s.head.graph, gomlx.CrossEntropy,
		optimizers.Adam().Done(), []metrics.Interface{feedback.Metric(gomlx.CrossEntropy)}, nil)
	loop := mltrain.NewLoop(trainer)
	loop.OnStep("feedback", 0, feedback.OnStep)
	loop.OnStep("progress", 1, s.progress(d, built.Len()))
	loop.OnStep("checkpoint", 2, func(l *mltrain.Loop, _ []*tensors.Tensor) error {
		if (l.LoopStep+1)%s.o.every != 0 {
			return nil
		}
		return d.Save(checkpoint, s.ctx)
	})
	if from != nil {
		fmt.Fprintf(s.w, "resumed in epoch %d, after step %d\n", from.State.Epoch+1, from.State.Step)
	}
	left := s.o.epochs - int(d.Epoch())
	if left <= 0 { // the training had ended; only its results are written again
		return s.head.read(s.ctx)
	}
	if _, err := loop.RunEpochs(d, left); err != nil {
		if !errors.Is(err, context.Canceled) {
			return err
		}
		// The loop stopped between two steps.
		if err := d.Save(checkpoint, s.ctx); err != nil {
			return err
		}
		return fmt.Errorf("interrupted in epoch %d; the same command resumes", d.Epoch()+1)
	}
	if err := s.head.read(s.ctx); err != nil {
		return err
	}
	return d.Save(checkpoint, s.ctx)
}

// progress returns a hook that prints the loss and the rate: on one line of a
// terminal, else a line every ten steps.
func (s *session) progress(d *gomlx.Dataset, steps int64) mltrain.OnStepFn {
	terminal := false
	if f, ok := s.w.(*os.File); ok {
		info, err := f.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	start, images := time.Now(), 0
	return func(_ *mltrain.Loop, m []*tensors.Tensor) error {
		step := d.Pipeline().Step()
		images += s.o.batch
		line := fmt.Sprintf("epoch %d/%d, step %d/%d: loss %.4f, %.0f images/s", d.Epoch()+1, s.o.epochs, step, steps,
			m[1].Value(), float64(images)/time.Since(start).Seconds())
		switch {
		case terminal && step == steps:
			fmt.Fprintf(s.w, "\r%s\x1b[K\n", line)
		case terminal:
			fmt.Fprintf(s.w, "\r%s\x1b[K", line)
		case step%10 == 0 || step == steps:
			fmt.Fprintln(s.w, line)
		}
		return nil
	}
}

// epochEnd evaluates the test images and adds a point to the curve.
func (s *session) epochEnd(d *gomlx.Dataset, at dataset.Progress) error {
	if err := s.head.read(s.ctx); err != nil {
		return err
	}
	e := epochResult{Epoch: at.Epoch}
	n := float64(len(s.data.test))
	for i, im := range s.data.test {
		scores := s.head.scores(s.features[i])
		e.Loss += crossEntropy(scores, im.class) / n
		if best(scores) == im.class {
			e.Accuracy += 1 / n
		}
	}
	s.curve = append(s.curve, e)
	weights, err := d.Pipeline().Weights(policy)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.w, "epoch %d: test loss %.4f, accuracy %.1f %%; augmentations were drawn with the weights %.2f\n",
		at.Epoch+1, e.Loss, 100*e.Accuracy, weights)
	b, err := json.Marshal(s.curve)
	if err != nil {
		return err
	}
	return replaceFile(s.path("curve.json"), b)
}

// loadCurve reads the points of the epochs before one. A kill between the curve
// and the checkpoint leaves a point too many.
func (s *session) loadCurve(epoch uint64) error {
	b, err := os.ReadFile(s.path("curve.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var l []epochResult
	if err := json.Unmarshal(b, &l); err != nil {
		return fmt.Errorf("%s: %w", s.path("curve.json"), err)
	}
	for _, e := range l {
		if e.Epoch < epoch {
			s.curve = append(s.curve, e)
		}
	}
	return nil
}

// write writes the results: the model, the bundle, the predictions and the
// pictures.
func (s *session) write() error {
	model, err := onnxModel(s.head)
	if err != nil {
		return err
	}
	if err := onnx.CheckFit(model, s.graph, len(s.data.labels)); err != nil {
		return err
	}
	c := &modelbundle.Content{
		Graph: s.graph, Models: []modelbundle.Model{{Name: "model.onnx", Format: "onnx", Data: model}}, Labels: s.data.labels,
	}
	for _, im := range s.data.test[:min(4, len(s.data.test))] {
		b, err := os.ReadFile(im.path)
		if err != nil {
			return err
		}
		g, err := modelbundle.MakeGolden(s.graph, filepath.Base(filepath.Dir(im.path))+"-"+filepath.Base(im.path), b, codec.DefaultLimits())
		if err != nil {
			return err
		}
		c.Goldens = append(c.Goldens, g)
	}
	var bundle bytes.Buffer
	if err := modelbundle.Create(&bundle, c); err != nil {
		return err
	}
	n := len(s.data.labels)
	counts := make([][]int, n)
	for i := range counts {
		counts[i] = make([]int, n)
	}
	var l []prediction
	right := 0
	for i, im := range s.data.test {
		scores := s.head.scores(s.features[i])
		class := best(scores)
		counts[im.class][class]++
		if class == im.class {
			right++
		}
		l = append(l, prediction{im.path, s.data.labels[im.class], s.data.labels[class], digest(s.inputs[i]), scores})
	}
	predictions, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		b    []byte
	}{{"model.onnx", model}, {"model.bundle", bundle.Bytes()}, {"predictions.json", predictions}} {
		if err := replaceFile(s.path(f.name), f.b); err != nil {
			return err
		}
	}
	if err := errors.Join(writePNG(s.path("curve.png"), curvePicture(s.curve)),
		writePNG(s.path("confusion.png"), confusionPicture(s.data.labels, counts))); err != nil {
		return err
	}
	fmt.Fprintf(s.w, "%d of %d test images are recognised (%.1f %%); weights %x\n", right, len(l), 100*float64(right)/float64(len(l)),
		sha256.Sum256(weightBytes(s.head)))
	return nil
}

// digest returns the SHA-256 of a tensor's elements, little-endian.
func digest(x []float32) string {
	sum := sha256.Sum256(littleEndian(nil, x))
	return hex.EncodeToString(sum[:])
}
