package gomlx

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlcontext "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/train"
	"github.com/gomlx/gomlx/pkg/ml/train/metrics"
	"github.com/gomlx/gomlx/pkg/ml/train/optimizers"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// backend runs ops one after another: with several at a time, v0.26.0 has a
// data race (executeNode reads numUsed without its lock).
var backend = func() backends.Backend {
	b, err := simplego.New("ops_sequential")
	if err != nil {
		panic(err)
	}
	return b
}()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// definition is 60 random images in batches of 8, augmented by a feedback
// policy.
func definition() *dataset.Dataset {
	source := fakeimage.New()
	source.Images, source.Height, source.Width, source.Classes = 60, 6, 6, 3
	policy := transforms.NewFeedbackPolicy("aug").
		Policy(1, transforms.NewRandomHorizontalFlip()).
		Policy(1, transforms.NewRandomErasing())
	g := datagraph.New(policy, transforms.NewPolicyIndex("aug"), transforms.NewToTensor())
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 6, 6, 3)
	g.Outputs = []string{"image", "policy"}
	return dataset.From(source).Shuffle().Map(g).Batch(8)
}

func build(t *testing.T, d *dataset.Dataset) *dataset.Built {
	t.Helper()
	b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// open returns a Dataset on the pure-Go backend.
func open(t *testing.T, b *dataset.Built, o Options) *Dataset {
	t.Helper()
	o.Backend = backend
	if o.Labels == nil {
		o.Labels = []string{"label", "policy"}
	}
	d, err := New(t.Context(), b, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// TestBatches: Yield returns the batches of the pull engine, on the device,
// over three epochs, of which the second is cut short.
func TestBatches(t *testing.T) {
	b := build(t, definition())
	want, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	defer want.Close()
	d := open(t, b, Options{})
	require.Equal(t, "infer-prep", d.Name())
	for epoch := range uint64(3) {
		d.Reset() // at the start of an epoch it does nothing
		require.Equal(t, epoch, d.Epoch())
		for step := 0; ; step++ {
			if epoch == 1 && step == 3 {
				break
			}
			s, err := want.Next(t.Context())
			_, inputs, labels, gotErr := d.Yield()
			require.Equal(t, err, gotErr)
			if err == io.EOF {
				require.Equal(t, 8, step)
				break
			}
			require.NoError(t, err)
			require.Len(t, inputs, 1)
			require.Len(t, labels, 2)
			require.True(t, inputs[0].IsOnDevice(0))
			require.Equal(t, s.Column("image").Desc.Shape.Slice(), inputs[0].Shape().Dimensions)
			require.Equal(t, tensor.View[float32](&s.Column("image").Tensor), tensors.MustCopyFlatData[float32](inputs[0]))
			for i, l := range labels { // the dataset's order is image, policy, label
				require.Equal(t, tensor.View[int32](&s.Values[2-i].Tensor), tensors.MustCopyFlatData[int32](l))
			}
			require.NoError(t, finalize(append(inputs, labels...)))
		}
		require.NoError(t, want.NextEpoch())
		d.Reset()
	}
}

// TestAhead: without a further Yield, as during a step, Prefetch batches are
// uploaded, and never more than one beyond.
func TestAhead(t *testing.T) {
	d := open(t, build(t, definition()), Options{Pipeline: pipeline.Options{Prefetch: 3}})
	_, inputs, labels, err := d.Yield()
	require.NoError(t, err)
	defer func() { require.NoError(t, finalize(append(inputs, labels...))) }()
	ahead := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.ready)
	}
	require.Eventually(t, func() bool { return ahead() >= 3 }, time.Minute, time.Millisecond)
	require.LessOrEqual(t, ahead(), 4)
	for _, l := range d.ready[:3] {
		for _, x := range l {
			require.True(t, x.IsOnDevice(0))
		}
	}
	ready := d.ready
	require.NoError(t, d.Close())
	for _, l := range ready {
		for _, x := range l {
			require.False(t, x.Ok(), "a tensor that Yield has not returned is finalized")
		}
	}
	_, _, _, err = d.Yield()
	require.ErrorIs(t, err, dataset.ErrClosed)
}

func model(ctx *mlcontext.Context, _ any, inputs []*graph.Node) []*graph.Node {
	x := inputs[0]
	x = graph.Reshape(x, x.Shape().Dimensions[0], 3*6*6)
	w := make([]float32, 3*6*6*3)
	for i := range w {
		w[i] = float32(i%7-3) / 64
	}
	v := ctx.In("head").VariableWithValue("weights", tensors.FromFlatDataAndDimensions(w, 3*6*6, 3))
	return []*graph.Node{graph.Dot(x, v.ValueGraph(x.Graph()))}
}

var errStop = errors.New("stopped by the test")

// training trains for three epochs and saves a checkpoint in path after every
// step. It stops after stop steps, and resumes at the checkpoint if there is
// one. It returns the weights of the policy in the last epoch.
func training(t *testing.T, path string, workers, stop int) []float64 {
	from, err := Open(path)
	require.NoError(t, err)
	ctx := mlcontext.New()
	require.NoError(t, ctx.SetRNGStateFromSeed(1))
	ctx = from.Restore(ctx)
	var ends []dataset.Progress
	d := open(t, build(t, definition()), Options{
		From: from, Pipeline: pipeline.Options{Workers: workers},
		EpochEnd: func(d *Dataset, at dataset.Progress) error {
			ends = append(ends, at)
			return d.Save(path, ctx)
		},
	})
	f, err := NewFeedback(d, "aug", "policy", -1, 0.1)
	require.NoError(t, err)
	trainer := train.NewTrainer(backend, ctx, model, CrossEntropy, optimizers.Adam().LearningRate(0.01).Done(),
		[]metrics.Interface{f.Metric(CrossEntropy)}, nil)
	loop := train.NewLoop(trainer)
	loop.OnStep("feedback", 0, f.OnStep)
	steps := 0
	loop.OnStep("checkpoint", 100, func(*train.Loop, []*tensors.Tensor) error {
		if err := d.Save(path, ctx); err != nil {
			return err
		}
		if steps++; steps == stop {
			return errStop
		}
		return nil
	})
	_, err = loop.RunEpochs(d, 3-int(d.Epoch()))
	if stop > 0 {
		require.ErrorIs(t, err, errStop)
		return nil
	}
	require.NoError(t, err)
	require.NoError(t, d.Save(path, ctx))
	require.Equal(t, dataset.Progress{Epoch: 2, Step: 8}, ends[len(ends)-1])
	w, err := d.run.Weights("aug")
	require.NoError(t, err)
	return w
}

// TestResume: a training that is stopped after any of some steps, also the last
// of an epoch, ends with the same checkpoint, byte for byte, for any number of
// workers.
func TestResume(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	weights := training(t, whole, 1, 0)
	require.NotEqual(t, []float64{1, 1}, weights)
	want, err := os.ReadFile(whole)
	require.NoError(t, err)
	for _, stops := range [][]int{{}, {3}, {8}, {9, 1, 6}, {16, 7}} {
		t.Run(fmt.Sprint(stops), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cut")
			for _, n := range stops {
				training(t, path, 3, n)
			}
			require.Equal(t, weights, training(t, path, 2, 0))
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

// TestDamage: truncated and changed checkpoints are ErrCheckpoint, and so is a
// header that lies under a valid checksum.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	training(t, path, 1, 2)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = parse(whole)
	require.NoError(t, err)
	for i := range whole {
		_, err := parse(whole[:i])
		require.Error(t, err)
		b := append([]byte{}, whole...)
		b[i] ^= 1
		_, err = parse(b)
		require.Error(t, err)
	}
	require.NoError(t, os.WriteFile(path, whole[:100], 0o666))
	_, err = Open(path)
	require.ErrorIs(t, err, ErrCheckpoint)
	_, err = Open(t.TempDir())
	require.ErrorIs(t, err, ErrCheckpoint)
	c, err := Open(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Nil(t, c)
	for _, v := range []variable{{DType: 10, Shape: []int{2}, Bytes: -4}, {DType: 10, Shape: []int{1 << 30, 1 << 30, 1 << 30}, Bytes: 8}, {DType: 99, Bytes: 8}, {DType: 10, Shape: []int{-1}, Bytes: 8}} {
		_, err := v.tensor(make([]byte, 8))
		require.Error(t, err, "%+v", v)
	}
}

// FuzzCheckpoint reads headers and data under a valid checksum.
func FuzzCheckpoint(f *testing.F) {
	sealed := func(head, data string) []byte {
		return append(append(binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(head))), head...), data...)
	}
	f.Add(sealed(`{"state": {}, "variables": [{"scope": "/", "name": "w", "dtype": 11, "shape": [2], "bytes": 8}]}`, "12345678"))
	f.Add(sealed(`{"state": {}, "variables": [{"dtype": 11, "shape": [0, 2147483647], "bytes": 0}]}`, ""))
	f.Add(sealed(`{"variables": null}`, "x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := sha256.Sum256(b)
		c, err := parse(append(b, sum[:]...))
		if err == nil {
			require.NotNil(t, c.State)
		}
	})
}

// TestAnswer: a Watch gets the loss of the step before.
func TestAnswer(t *testing.T) {
	answers := dataset.NewAnswers()
	var got []any
	source := fakeimage.New()
	source.Images, source.Height, source.Width, source.Classes = 24, 6, 6, 3
	g := datagraph.New(transforms.NewToTensor())
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 6, 6, 3)
	d := open(t, build(t, dataset.From(source).Map(g).Batch(8).Watch(dataset.Callback{
		Answers: answers,
		StepBegin: func(_ context.Context, at dataset.Progress) error {
			got = append(got, at.Answer)
			return nil
		},
	})), Options{Labels: []string{"label"}})
	ctx := mlcontext.New()
	loop := train.NewLoop(train.NewTrainer(backend, ctx, model, CrossEntropy, optimizers.Adam().Done(), nil, nil))
	var want []any
	loop.OnStep("loss", 0, func(_ *train.Loop, m []*tensors.Tensor) error {
		v, err := floats(m[0])
		want = append(want, v[0])
		return err
	})
	loop.OnStep("answer", 1, Answer(answers))
	_, err := loop.RunEpochs(d, 1)
	require.NoError(t, err)
	require.Len(t, want, 3)
	require.NoError(t, d.Close())
	require.Nil(t, got[0])
	for i, a := range got[1:3] {
		require.Equal(t, want[i], a.([]float64)[0])
	}
}

// TestErrors: wrong options and a policy without its column.
func TestErrors(t *testing.T) {
	b := build(t, definition())
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "Backend is nil"},
		{Options{Backend: backend, Inputs: []string{"imagee"}}, `unknown column "imagee"`},
		{Options{Backend: backend, Pipeline: pipeline.Options{Upload: func(context.Context, *dataset.Sample) error { return nil }}}, "Upload is set"},
		{Options{Backend: backend, Pipeline: pipeline.Options{Workers: -1}}, "Workers is -1"},
	} {
		_, err := New(t.Context(), b, c.o)
		require.ErrorIs(t, err, dataset.ErrParam)
		require.ErrorContains(t, err, c.want)
	}
	d := open(t, b, Options{Labels: []string{"label"}})
	_, err := NewFeedback(d, "aug", "policy", -1, 0)
	require.ErrorContains(t, err, `column "policy" is no label`)
	_, err = NewFeedback(d, "augg", "policy", -1, 0)
	require.ErrorIs(t, err, dataset.ErrParam)
}
