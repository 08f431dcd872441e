package paddle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

// ahead is a function that does nothing: a stage of the engine, which reads ahead
// what is below it.
const ahead = "paddle/ahead"

func init() {
	dataset.RegisterFunc(ahead, dataset.MapFunc(func(*dataset.Call, []*dataset.Value, []*tensor.Tensor) error { return nil }))
}

func readAhead(d *dataset.Dataset) *dataset.Dataset {
	return dataset.Of(&dataset.Func{Name: ahead, In: []string{}, Out: []dataset.OutColumn{}}, d)
}

// Reader is a definition of what is read. It is immutable.
type Reader struct {
	d      *dataset.Dataset
	buffer int
	double bool
	err    error // of a parameter, which Start gives
}

// FilesOptions are those of OpenFiles.
type FilesOptions struct {
	// Threads is how many files are read at once, each by a goroutine of its own that
	// reads ahead. Default: 1. (Paddle: thread_num.)
	Threads int
	// Buffer is how many samples each thread has ready, and the channel that they are
	// gathered in. Default: 64; at most 1024. (Paddle: buffer_size, of the channel only.)
	Buffer int
	// Format is the tag of all files' format; empty: FormatOf.
	Format string
}

// maxBuffer is the most that a stage of package pipeline holds.
const maxBuffer = 1024

// OpenFiles is a Reader of many files, of one or several registered formats. Every
// file has these columns, and every sample is checked; sizes of -1 are any. See the
// package for the order. (Paddle: fluid.layers.open_files, whose shapes, lod_levels
// and dtypes are the columns here.)
func OpenFiles(columns []dataset.Column, o FilesOptions, paths ...string) *Reader {
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.Buffer == 0 {
		o.Buffer = 64
	}
	r := &Reader{buffer: o.Buffer}
	if o.Threads < 1 || o.Buffer < 1 || o.Buffer > maxBuffer {
		r.err = fmt.Errorf("paddle: OpenFiles: %w: %d threads, a buffer of %d; want 1 or more, and 1 to %d", dataset.ErrParam, o.Threads, o.Buffer, maxBuffer)
	}
	out := []dataset.OutColumn{}
	for _, c := range columns {
		out = append(out, dataset.OutColumn{Name: c.Name, Desc: c.Desc})
	}
	n := max(1, min(o.Threads, len(paths)))
	var threads []*dataset.Dataset
	for i := range n {
		f := &Files{Paths: []string{}, Format: o.Format, Columns: slices.Clone(out)}
		for k := i; k < len(paths); k += n {
			f.Paths = append(f.Paths, paths[k])
		}
		threads = append(threads, readAhead(dataset.From(f)))
	}
	r.d = threads[0]
	if n > 1 {
		r.d = readAhead(dataset.Interleaved(1, threads...))
	}
	return r
}

// FromDataset is a dataset as a Reader.
func FromDataset(d *dataset.Dataset) *Reader { return &Reader{d: d} }

// Dataset is the Reader as a dataset. DoubleBuffer and the buffer of OpenFiles are
// no part of it: they are options of package pipeline.
func (r *Reader) Dataset() *dataset.Dataset { return r.d }

// with is r with another dataset.
func (r *Reader) with(d *dataset.Dataset) *Reader {
	c := *r
	c.d = d
	return &c
}

// Shuffle mixes samples within a buffer of this many. It stands below Batch. (Paddle:
// fluid.layers.shuffle.)
func (r *Reader) Shuffle(buffer int) *Reader { return r.with(r.d.ShuffleBuffer(buffer)) }

// Batch stacks n samples; the last batch may have fewer. (Paddle: fluid.layers.batch.)
func (r *Reader) Batch(n int) *Reader { return r.with(r.d.Batch(n)) }

// MultiPass makes n passes over r one: what ends after each pass ends after n. Each is
// another epoch for shuffles below it. (Paddle: fluid.layers.multi_pass.)
func (r *Reader) MultiPass(n int) *Reader {
	c := r.with(r.d.Repeat(int64(n)))
	if n < 1 && c.err == nil {
		c.err = fmt.Errorf("paddle: MultiPass: %w: %d passes, want 1 or more", dataset.ErrParam, n)
	}
	return c
}

// DoubleBuffer has two samples or batches ready for ReadNext, on the device if
// pipeline.Options.Upload brings them there, while the last one is worked on. It is one buffer
// at the end of all, wherever DoubleBuffer stands. (Paddle: fluid.layers.double_buffer.)
func (r *Reader) DoubleBuffer() *Reader {
	c := r.with(r.d)
	c.double = true
	return c
}

// Options are those of Start.
type Options struct {
	Dataset dataset.Options
	// Pipeline are the engine's, with other defaults: one worker a stage; the
	// Buffer of OpenFiles for Queue; Prefetch 2 with DoubleBuffer, else none.
	Pipeline pipeline.Options
	State    *dataset.State // where to begin; nil is the beginning
}

// Start opens the files and makes a Run. Nothing is read ahead yet. Errors are those
// of parameters, which wrap dataset.ErrParam, those of Files' Open, and dataset.Build's.
func (r *Reader) Start(o Options) (*Run, error) {
	if r.err != nil {
		return nil, r.err
	}
	if o.Pipeline.Workers == 0 {
		o.Pipeline.Workers = 1
	}
	if o.Pipeline.Queue == 0 {
		o.Pipeline.Queue = r.buffer
	}
	if o.Pipeline.Prefetch == 0 {
		o.Pipeline.Prefetch = -1
		if r.double {
			o.Pipeline.Prefetch = 2
		}
	}
	b, err := dataset.Build(r.d, o.Dataset)
	if err != nil {
		return nil, err
	}
	p, err := pipeline.New(b, o.Pipeline, o.State)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &Run{b: b, p: p}, nil
}

// Run is a Reader that is being read. It is used by one goroutine at a time, apart from Stats.
type Run struct {
	b *dataset.Built
	p *pipeline.Pipeline

	looked bool // next and err are what ReadNext gives
	next   *dataset.Sample
	err    error
	before *dataset.State // that was before next
}

// Columns describes the samples.
func (r *Run) Columns() []dataset.Column { return r.b.Columns() }

// HasNext reports whether ReadNext has another sample. It reads it, so that the sample
// before is not valid any more; it notes the State before that, which costs a little with
// a large Shuffle: who only wants the samples calls ReadNext until io.EOF. An error that it
// gives ReadNext gives too.
func (r *Run) HasNext(ctx context.Context) (bool, error) {
	if !r.looked {
		before := r.p.State()
		s, err := r.p.Next(ctx)
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return false, err // nothing was read
		}
		r.looked, r.next, r.err, r.before = true, s, err, before
	}
	switch {
	case r.err == nil:
		return true, nil
	case r.err == io.EOF:
		return false, nil
	}
	return false, r.err
}

// ReadNext gives the next sample or batch, or io.EOF, itself, at the end, again and
// again until ReInit. If ctx is cancelled while it waits, the run is over.
func (r *Run) ReadNext(ctx context.Context) (*dataset.Sample, error) {
	if !r.looked {
		return r.p.Next(ctx)
	}
	s, err := r.next, r.err
	if err == nil {
		r.forget()
	}
	return s, err
}

func (r *Run) forget() { r.looked, r.next, r.err, r.before = false, nil, nil, nil }

// ReInit begins again, with the next epoch, wherever the run stands.
func (r *Run) ReInit() error {
	r.forget()
	return r.p.NextEpoch()
}

// State is where the run stands: behind the last sample that ReadNext gave.
func (r *Run) State() *dataset.State {
	if r.looked && r.err == nil {
		return r.before
	}
	return r.p.State()
}

// Stats is what the engine's stages did; see pipeline.Pipeline. Any goroutine may call it.
func (r *Run) Stats() []pipeline.StageStats { return r.p.Stats() }

// Close ends the run, with all its goroutines, and closes the files.
func (r *Run) Close() error {
	r.forget()
	return errors.Join(r.p.Close(), r.b.Close())
}
