// Package generator makes datasets of the samples that functions of a program
// generate. Columns: those that the function declares. Reference: MindSpore's
// GeneratorDataset.
package generator

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Definition describes a function that generates samples.
type Definition struct {
	// Columns describes the samples.
	Columns []dataset.Column
	// Start begins an epoch and must be safe for concurrent use. For the same
	// epoch it must return the same samples in the same order; otherwise a run
	// can't resume exactly. If the reader leaves Key empty, the key is the
	// generator's name.
	Start func(epoch uint64) (dataset.Reader, error)
}

// Generator is a source of the function registered under Name. A definition may
// contain it, and can be read by a program that registers a function of that
// name.
//
// Columns: those of the function.
//
// A state does not notice other samples of the function.
//
// Reference: MindSpore 2.10.0's GeneratorDataset for an iterable, which also
// calls the function once for every epoch.
type Generator struct {
	Name string `json:"name"`
}

// Func is a source of a function without a name. A definition that contains one
// can't be written. A state does not notice other samples of the function.
type Func struct{ Definition }

var defined = registry.New[Definition]("generator")

func init() {
	dataset.Register(dataset.Info{Name: "generator", Version: 1, New: func() dataset.Node { return New("") }, Doc: "what a function of the program, registered under a name, gives"})
}

// Register registers a function under a name. Call it from init functions. It
// panics if the name is empty or taken or the definition is incomplete: these
// are programming errors.
func Register(name string, d Definition) {
	if err := d.validate(); err != nil {
		defined.Refuse(name, err.Error())
	}
	defined.Add(name, d)
}

// New returns a source of a registered function.
func New(name string) *Generator { return &Generator{name} }

// NewFunc returns a source of a function without a name.
func NewFunc(d Definition) *Func { return &Func{d} }

func (d *Definition) validate() error {
	if len(d.Columns) == 0 || d.Start == nil {
		return fmt.Errorf("%w: want columns and a function", dataset.ErrParam)
	}
	return nil
}

func (o *Generator) find() (Definition, error) {
	d, err := defined.Lookup(o.Name)
	if err != nil {
		return d, fmt.Errorf("%w: %w", dataset.ErrParam, err)
	}
	return d, nil
}

// Validate requires a registered name.
func (o *Generator) Validate() error {
	_, err := o.find()
	return err
}

// Open looks up the function. The function is called when an epoch starts.
func (o *Generator) Open(ctx context.Context, _ store.Opener) (dataset.Data, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := o.find()
	if err != nil {
		return nil, err
	}
	return &stream{o.Name, d}, nil
}

// Validate requires columns and a Start function.
func (o *Func) Validate() error { return o.validate() }

// Open validates the definition. The function is called when an epoch starts.
func (o *Func) Open(ctx context.Context, _ store.Opener) (dataset.Data, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &stream{"generator", o.Definition}, nil
}

type stream struct {
	name string
	d    Definition
}

func (d *stream) Columns() []dataset.Column { return d.d.Columns }

func (d *stream) Start(_ context.Context, epoch uint64) (dataset.Reader, error) {
	r, err := d.d.Start(epoch)
	if err != nil {
		return nil, fmt.Errorf("generator %s: epoch %d: %w", d.name, epoch, err)
	}
	return &reader{d, r, epoch, 0, nil}, nil
}

func (d *stream) Close() error { return nil }

type reader struct {
	d     *stream
	r     dataset.Reader
	epoch uint64
	k     int64
	end   error // set at the end or by the first error
}

// Next also checks that the sample matches the columns.
func (r *reader) Next(ctx context.Context, s *dataset.Sample) error {
	if r.end != nil {
		return r.end
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Key = ""
	err := r.r.Next(ctx, s)
	if err == nil {
		if len(s.Values) != len(r.d.d.Columns) {
			err = fmt.Errorf("%w: %d values, want %d", dataset.ErrData, len(s.Values), len(r.d.d.Columns))
		}
		for c := 0; err == nil && c < len(s.Values); c++ {
			if want := r.d.d.Columns[c]; !want.Desc.Matches(s.Values[c].Desc) {
				err = fmt.Errorf("%w: %s is %v, want %v", dataset.ErrData, want.Name, s.Values[c].Desc, want.Desc)
			}
		}
	}
	if err != nil {
		if r.end = err; err != io.EOF {
			r.end = fmt.Errorf("generator %s: epoch %d, sample %d: %w", r.d.name, r.epoch, r.k, err)
		}
		return r.end
	}
	if s.Key == "" {
		s.Key = r.d.name
	}
	r.k++
	return nil
}

func (r *reader) Close() error { return r.r.Close() }

// Iter adapts an iterator to Definition.Start. The iterator yields the values
// of each sample in the order of the columns, or an error, which ends it.
// Values are copied, so the iterator may reuse its tensors. Between samples the
// iterator is suspended as a coroutine; Close ends it.
func Iter(f func(epoch uint64) iter.Seq2[[]*tensor.Tensor, error]) func(epoch uint64) (dataset.Reader, error) {
	return func(epoch uint64) (dataset.Reader, error) {
		p := &pulled{}
		p.next, p.stop = iter.Pull2(f(epoch))
		return p, nil
	}
}

type pulled struct {
	next func() ([]*tensor.Tensor, error, bool)
	stop func()
}

func (p *pulled) Next(_ context.Context, s *dataset.Sample) error {
	ts, err, ok := p.next()
	if !ok {
		return io.EOF
	}
	if err != nil {
		return err
	}
	if len(ts) != len(s.Values) {
		return fmt.Errorf("%w: %d values, want %d", dataset.ErrData, len(ts), len(s.Values))
	}
	for i, t := range ts {
		v := &s.Values[i]
		switch {
		case t == nil:
			return fmt.Errorf("%w: value %d is nil", dataset.ErrData, i)
		case t.DType == tensor.Bytes:
			copy(v.Bytes(len(t.Data)), t.Data)
		default:
			if err := v.Reset(t.Desc); err != nil {
				return err
			}
			if err := t.CopyTo(&v.Tensor); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pulled) Close() error {
	p.stop()
	return nil
}
