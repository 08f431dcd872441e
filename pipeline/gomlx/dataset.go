// Package gomlx trains with GoMLX (github.com/gomlx/gomlx) on datasets of
// infer-prep. A [Dataset] is a train.Dataset whose batches come from the
// parallel pipeline. It uploads the next batches while the training computes a
// step. A checkpoint holds the variables and the place in the data, so that a
// killed training resumes with the same bits.
//
// # Ownership
//
// The pipeline reuses the memory of its batches, and GoMLX keeps tensors as
// long as it likes. So a batch is copied exactly once: Upload copies it to a
// buffer of the backend before it is ready. The tensors that Yield returns
// belong to the caller. train.Loop and Trainer.Eval finalize them after the
// step; other callers call FinalizeAll. Close, Reset and the end of the run
// finalize the tensors that Yield has not returned.
//
// Reference: GoMLX v0.26.0, packages train, tensors and context.
package gomlx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/gomlx/gomlx/pkg/ml/train"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// Options are the options of New.
type Options struct {
	// Name is the name that GoMLX prints. Default: "infer-prep".
	Name string
	// Backend gets the batches, on device number Device. Required.
	Backend backends.Backend
	Device  backends.DeviceNum
	// Labels are the columns that Yield returns as labels, in order. Default:
	// the column "label" if there is one.
	Labels []string
	// Inputs are the columns that Yield returns as inputs, in order. Default:
	// all columns that are not Labels. Other columns are not uploaded.
	Inputs []string
	// Pipeline are the options of the pipeline. Its Upload must be nil: New
	// sets it. Its Prefetch batches, by default 2, are on the device before
	// they are needed, in addition to the one that the step uses and the one
	// that is being uploaded.
	Pipeline pipeline.Options
	// From resumes at a checkpoint. Default: the start of epoch 0.
	From *Checkpoint
	// EpochEnd, if not nil, is called after the last batch of each epoch and
	// after the Feedbacks of d, before Yield returns io.EOF. An error ends the
	// training.
	EpochEnd func(d *Dataset, at dataset.Progress) error
}

// Dataset is a train.Dataset of the batches of a dataset.Built. One goroutine
// calls Yield and Reset; Close is safe for concurrent use. Do not put it into a
// GoMLX dataset that reads ahead (datasets.Parallel, datasets.OnDevice): a
// checkpoint would skip the batches that are read and not yet used. The
// pipeline already reads ahead.
type Dataset struct {
	ctx      context.Context
	o        Options
	run      *pipeline.Pipeline
	columns  []int // of the inputs, then of the labels
	inputs   int
	feedback []*Feedback
	ended    bool  // the epoch
	failed   error // of Reset, or of the hooks; Yield returns it

	mu    sync.Mutex
	ready [][]*tensors.Tensor // uploaded, in the order of the batches
}

var _ train.Dataset = (*Dataset)(nil)

// New returns a Dataset. ctx bounds all of its work: Yield returns the ctx's
// error when it ends. The caller closes the Dataset, then b. New returns an
// error for a column that b does not have or that has no dtype of GoMLX, and
// for a checkpoint of another definition or of other data.
func New(ctx context.Context, b *dataset.Built, o Options) (*Dataset, error) {
	switch {
	case o.Backend == nil:
		return nil, fmt.Errorf("gomlx: %w: Backend is nil, want a backend", dataset.ErrParam)
	case o.Pipeline.Upload != nil:
		return nil, fmt.Errorf("gomlx: %w: Pipeline.Upload is set, want nil: New sets it", dataset.ErrParam)
	}
	if o.Name == "" {
		o.Name = "infer-prep"
	}
	columns := b.Columns()
	at := func(name string) int {
		return slices.IndexFunc(columns, func(c dataset.Column) bool { return c.Name == name })
	}
	if o.Labels == nil && at("label") >= 0 {
		o.Labels = []string{"label"}
	}
	if o.Inputs == nil {
		for _, c := range columns {
			if !slices.Contains(o.Labels, c.Name) {
				o.Inputs = append(o.Inputs, c.Name)
			}
		}
	}
	d := &Dataset{ctx: ctx, o: o, inputs: len(o.Inputs)}
	for _, name := range slices.Concat(o.Inputs, o.Labels) {
		i := at(name)
		if i < 0 {
			var known []string
			for _, c := range columns {
				known = append(known, c.Name)
			}
			return nil, fmt.Errorf("gomlx: %w: unknown column %q: the dataset has %q", dataset.ErrParam, name, known)
		}
		if dt := columns[i].Desc.DType; dtypeOf(dt) == dtypes.InvalidDType {
			return nil, fmt.Errorf("gomlx: %w: column %q has the dtype %s, want one that GoMLX has", dataset.ErrParam, name, dt)
		}
		d.columns = append(d.columns, i)
	}
	o.Pipeline.Upload = d.upload
	var state *dataset.State
	if o.From != nil {
		state = o.From.State
	}
	var err error
	if d.run, err = pipeline.New(b, o.Pipeline, state); err != nil {
		return nil, err
	}
	return d, nil
}

// dtypeOf returns GoMLX's dtype, or InvalidDType.
func dtypeOf(d tensor.DType) dtypes.DType {
	switch d {
	case tensor.Bool:
		return dtypes.Bool
	case tensor.Uint8:
		return dtypes.Uint8
	case tensor.Int8:
		return dtypes.Int8
	case tensor.Uint16:
		return dtypes.Uint16
	case tensor.Int16:
		return dtypes.Int16
	case tensor.Int32:
		return dtypes.Int32
	case tensor.Int64:
		return dtypes.Int64
	case tensor.Float32:
		return dtypes.Float32
	case tensor.Float64:
		return dtypes.Float64
	}
	return dtypes.InvalidDType
}

// flat returns the elements of a dense tensor as the Go slice that GoMLX
// expects. The slice shares t's memory, except for bools.
func flat(t *tensor.Tensor) (any, error) {
	switch t.Desc.DType {
	case tensor.Bool:
		// A Go bool must not have other bits than those of 0 and 1.
		b := tensor.View[uint8](t)
		out := make([]bool, len(b))
		for i, x := range b {
			out[i] = x != 0
		}
		return out, nil
	case tensor.Uint8:
		return tensor.View[uint8](t), nil
	case tensor.Int8:
		return tensor.View[int8](t), nil
	case tensor.Uint16:
		return tensor.View[uint16](t), nil
	case tensor.Int16:
		return tensor.View[int16](t), nil
	case tensor.Int32:
		return tensor.View[int32](t), nil
	case tensor.Int64:
		return tensor.View[int64](t), nil
	case tensor.Float32:
		return tensor.View[float32](t), nil
	case tensor.Float64:
		return tensor.View[float64](t), nil
	}
	return nil, fmt.Errorf("dtype %s, want one that GoMLX has", t.Desc.DType)
}

// upload copies the columns of a batch to the backend. The pipeline calls it
// for each batch in order, on a goroutine of its own.
func (d *Dataset) upload(_ context.Context, s *dataset.Sample) (err error) {
	var got []*tensors.Tensor
	defer func() {
		if err != nil {
			err = errors.Join(err, finalize(got))
		}
	}()
	for k, i := range d.columns {
		t := &s.Values[i].Tensor
		if !t.Dense() {
			t = t.Clone()
		}
		v, err := flat(t)
		if err != nil {
			return fmt.Errorf("gomlx: column %q: %w", d.name(k), err)
		}
		shape := shapes.Make(dtypeOf(t.Desc.DType), t.Desc.Shape.Slice()...)
		buffer, err := d.o.Backend.BufferFromFlatData(d.o.Device, v, shape)
		if err != nil {
			return fmt.Errorf("gomlx: column %q, %s: %w", d.name(k), shape, err)
		}
		x, err := tensors.FromBuffer(d.o.Backend, buffer)
		if err != nil {
			return errors.Join(fmt.Errorf("gomlx: column %q, %s: %w", d.name(k), shape, err), d.o.Backend.BufferFinalize(buffer))
		}
		got = append(got, x)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = append(d.ready, got)
	return nil
}

// name returns the name of uploaded column k.
func (d *Dataset) name(k int) string { return slices.Concat(d.o.Inputs, d.o.Labels)[k] }

// finalize releases tensors.
func finalize(l []*tensors.Tensor) (err error) {
	for _, t := range l {
		err = errors.Join(err, t.FinalizeAll())
	}
	return err
}

// drop releases the batches that Yield has not returned. No upload may run.
func (d *Dataset) drop() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.ready {
		err = errors.Join(err, finalize(l))
	}
	d.ready = nil
	return err
}

// Name returns the name of Options.
func (d *Dataset) Name() string { return d.o.Name }

// Yield returns the next batch of the epoch, io.EOF at its end, and that again
// until Reset. Its spec is nil. The tensors belong to the caller, who finalizes
// them after use.
func (d *Dataset) Yield() (spec any, inputs, labels []*tensors.Tensor, err error) {
	if d.failed != nil {
		return nil, nil, nil, d.failed
	}
	if d.ended {
		return nil, nil, nil, io.EOF
	}
	at := dataset.Progress{Epoch: d.run.Epoch(), Step: d.run.Step()}
	if _, err = d.run.Next(d.ctx); err == io.EOF {
		d.ended = true
		if err := d.epochEnd(at); err != nil {
			d.failed = err
			return nil, nil, nil, err
		}
		return nil, nil, nil, io.EOF
	}
	if err != nil {
		return nil, nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ready) == 0 { // Close was faster
		return nil, nil, nil, dataset.ErrClosed
	}
	l := d.ready[0]
	d.ready[0] = nil
	d.ready = d.ready[1:]
	return nil, l[:d.inputs:d.inputs], l[d.inputs:], nil
}

func (d *Dataset) epochEnd(at dataset.Progress) error {
	for _, f := range d.feedback {
		if err := f.epochEnd(); err != nil {
			return err
		}
	}
	if d.o.EpochEnd != nil {
		return d.o.EpochEnd(d, at)
	}
	return nil
}

// Reset starts the next epoch. At the start of an epoch, where Trainer.Eval
// calls it, it does nothing. Batches that are read ahead are dropped. The next
// Yield returns an error of Reset.
func (d *Dataset) Reset() {
	if d.failed != nil || !d.ended && d.run.Step() == 0 {
		return
	}
	d.ended = false
	d.failed = d.run.NextEpoch() // waits for the uploads
	d.failed = errors.Join(d.failed, d.drop())
}

// Epoch returns the number of the epoch, from 0. It counts on after a resume.
func (d *Dataset) Epoch() uint64 { return d.run.Epoch() }

// Pipeline returns the run, for its Stats, Skipped, Weights and SetWeights. Do
// not call its Next, NextEpoch or Close.
func (d *Dataset) Pipeline() *pipeline.Pipeline { return d.run }

// Answer returns a hook that gives every step's metrics to a dataset.Watch, as
// a []float64 in the order of Trainer.TrainMetrics. Metrics that are not scalar
// are their first element. So the next batches can depend on the training.
func Answer(a *dataset.Answers) train.OnStepFn {
	return func(_ *train.Loop, metrics []*tensors.Tensor) error {
		var l []float64
		for _, m := range metrics {
			v, err := floats(m)
			if err != nil {
				return err
			}
			l = append(l, v[0])
		}
		a.Give(l)
		return nil
	}
}

// floats returns the elements of a tensor of float32 or float64.
func floats(t *tensors.Tensor) (out []float64, err error) {
	err = t.ConstFlatData(func(flat any) {
		switch v := flat.(type) {
		case []float32:
			for _, x := range v {
				out = append(out, float64(x))
			}
		case []float64:
			out = slices.Clone(v)
		}
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("gomlx: a metric is %s, want float32 or float64 elements", t.Shape())
	}
	return out, err
}

// Close ends the pipeline, waits for its goroutines, and finalizes the tensors
// that Yield has not returned. A Yield of another goroutine returns
// dataset.ErrClosed.
func (d *Dataset) Close() error {
	return errors.Join(d.run.Close(), d.drop())
}
