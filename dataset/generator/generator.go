// Package generator is datasets that functions of a program give.
package generator

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// Definition is a function that gives samples.
type Definition struct {
	// Columns describes the samples.
	Columns []dataset.Column
	// Start begins an epoch. It may be called by several goroutines, and must give
	// the same samples in the same order for the same epoch, or resuming is not exact.
	// The reader may leave Key empty, which is then the generator's name.
	Start func(epoch uint64) (dataset.Reader, error)
}

// Generator is the function that is registered under a name. It can be written
// as part of a definition, and read where a function of that name is registered.
//
// Columns: the function's.
//
// Reference: MindSpore 2.10.0's GeneratorDataset for an iterable, which calls
// the function once for every epoch too.
type Generator struct {
	Name string `json:"name"`
}

// Func is a function without a name. It is part of a program: a definition that
// has one in it is refused when it is to be written.
type Func struct{ Definition }

var (
	mu      sync.RWMutex
	defined = map[string]Definition{}
)

func init() {
	dataset.Register(dataset.Info{Name: "generator", Version: 1, New: func() dataset.Node { return New("") }, Doc: "what a function of the program, registered under a name, gives"})
}

// Register gives a function a name; it is called from init functions. It panics
// on a name that is taken, which is a programming error.
func Register(name string, d Definition) {
	mu.Lock()
	defer mu.Unlock()
	if _, ok := defined[name]; ok || name == "" || d.check() != nil {
		panic(fmt.Sprintf("generator: cannot register %q", name))
	}
	defined[name] = d
}

// New makes the source of a registered function.
func New(name string) *Generator { return &Generator{name} }

// NewFunc makes the source of a function.
func NewFunc(d Definition) *Func { return &Func{d} }

func (d *Definition) check() error {
	if len(d.Columns) == 0 || d.Start == nil {
		return fmt.Errorf("%w: want columns and a function", dataset.ErrParam)
	}
	return nil
}

func (o *Generator) find() (Definition, error) {
	mu.RLock()
	defer mu.RUnlock()
	d, ok := defined[o.Name]
	if !ok {
		return d, fmt.Errorf("%w: no generator is registered as %q, there is %s", dataset.ErrParam, o.Name,
			strings.Join(slices.Sorted(maps.Keys(defined)), ", "))
	}
	return d, nil
}

// Validate wants a registered name.
func (o *Generator) Validate() error {
	_, err := o.find()
	return err
}

// Open finds the function; it is called when an epoch starts.
func (o *Generator) Open() (dataset.Data, error) {
	d, err := o.find()
	if err != nil {
		return nil, err
	}
	return &stream{o.Name, d}, nil
}

// Validate wants columns and a function.
func (o *Func) Validate() error { return o.check() }

// Open does nothing; the function is called when an epoch starts.
func (o *Func) Open() (dataset.Data, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &stream{"generator", o.Definition}, nil
}

type stream struct {
	name string
	d    Definition
}

func (d *stream) Columns() []dataset.Column { return d.d.Columns }

func (d *stream) Start(epoch uint64) (dataset.Reader, error) {
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
	end   error // once there is one
}

// Next wants that samples are as the columns say.
func (r *reader) Next(s *dataset.Sample) error {
	if r.end != nil {
		return r.end
	}
	s.Key = ""
	err := r.r.Next(s)
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

// Iter makes a Definition's Start of a function that gives an iterator over the
// values of samples, in the order of the columns, or an error, which ends it. Values
// are copied, and may be the same tensors, changed, from sample to sample.
// Between samples the iterator waits as a coroutine, which Close ends.
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

func (p *pulled) Next(s *dataset.Sample) error {
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
