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

// ahead names a function that does nothing. It adds a stage to the engine, and
// the stage reads ahead.
const ahead = "paddle/ahead"

func init() {
	dataset.RegisterFunc(ahead, dataset.MapFunc(func(*dataset.Call, []*dataset.Value, []*tensor.Tensor) error { return nil }))
}

func readAhead(d *dataset.Dataset) *dataset.Dataset {
	return dataset.Of(&dataset.Func{Name: ahead, In: []string{}, Out: []dataset.OutColumn{}}, d)
}

// Reader is an immutable definition of files and decorators.
type Reader struct {
	d      *dataset.Dataset
	buffer int
	double bool
	err    error // an invalid parameter, returned by Start
}

// FilesOptions are the options of OpenFiles.
type FilesOptions struct {
	// Threads is the number of files read at once, each ahead. When one ends,
	// the next begins. Default 1. (Paddle: thread_num.)
	Threads int
	// Buffer is the number of samples that each thread reads ahead, and the
	// size of the channel that collects them. Default 64; 1 to 1024. (Paddle:
	// buffer_size, of the channel only.)
	Buffer int
	// Format is the tag of all files. Default: FormatOf determines it for each
	// file.
	Format string
}

// maxBuffer is the most samples that a stage of package pipeline holds.
const maxBuffer = 1024

// OpenFiles returns a Reader of files of registered formats. Every file must
// have these columns, and every sample is checked against them; -1 is any size.
// The package comment describes the order. (Paddle: fluid.layers.open_files,
// whose shapes, lod_levels and dtypes are the columns.)
func OpenFiles(columns []dataset.Column, o FilesOptions, paths ...string) *Reader {
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.Buffer == 0 {
		o.Buffer = 64
	}
	r := &Reader{buffer: o.Buffer}
	if o.Threads < 1 || o.Buffer < 1 || o.Buffer > maxBuffer {
		r.err = fmt.Errorf("paddle: OpenFiles: %w: %d threads and a buffer of %d, want at least 1 thread and a buffer of 1 to %d", dataset.ErrParam, o.Threads, o.Buffer, maxBuffer)
	}
	out := []dataset.OutColumn{}
	for _, c := range columns {
		out = append(out, dataset.OutColumn{Name: c.Name, Desc: c.Desc})
	}
	files := func(paths ...string) *dataset.Dataset {
		return readAhead(dataset.From(&Files{Paths: append([]string{}, paths...), Format: o.Format, Columns: slices.Clone(out)}))
	}
	if o.Threads == 1 || len(paths) < 2 {
		r.d = files(paths...)
		return r
	}
	var all []*dataset.Dataset
	for _, path := range paths {
		all = append(all, files(path))
	}
	r.d = readAhead(dataset.Of(&dataset.Interleave{Block: 1, Lanes: max(o.Threads, 0)}, all...))
	return r
}

// FromDataset converts a dataset to a Reader.
func FromDataset(d *dataset.Dataset) *Reader { return &Reader{d: d} }

// Dataset returns the Reader as a dataset. It leaves out DoubleBuffer and the
// buffer of OpenFiles, which are options of package pipeline.
func (r *Reader) Dataset() *dataset.Dataset { return r.d }

// with returns a copy of r that reads another dataset.
func (r *Reader) with(d *dataset.Dataset) *Reader {
	c := *r
	c.d = d
	return &c
}

// Shuffle mixes samples in a buffer of the given size, or batches after Batch.
// (Paddle: fluid.layers.shuffle.)
func (r *Reader) Shuffle(buffer int) *Reader { return r.with(r.d.ShuffleBuffer(buffer)) }

// Batch stacks n samples; the last batch may have fewer. (Paddle:
// fluid.layers.batch.)
func (r *Reader) Batch(n int) *Reader { return r.with(r.d.Batch(n)) }

// MultiPass combines n passes into one: the end of the data comes after n
// passes. Shuffles before it treat each pass as a separate epoch. (Paddle:
// fluid.layers.multi_pass.)
func (r *Reader) MultiPass(n int) *Reader {
	c := r.with(r.d.Repeat(int64(n)))
	if n < 1 && c.err == nil {
		c.err = fmt.Errorf("paddle: MultiPass: %w: %d passes, want at least 1", dataset.ErrParam, n)
	}
	return c
}

// DoubleBuffer keeps two samples or batches ready for ReadNext. If
// pipeline.Options.Upload is set, they are uploaded to the device meanwhile.
// Wherever it is called, the buffer is the last stage. (Paddle:
// fluid.layers.double_buffer.)
func (r *Reader) DoubleBuffer() *Reader {
	c := r.with(r.d)
	c.double = true
	return c
}

// Options are the options of Start.
type Options struct {
	Dataset dataset.Options
	// Pipeline are the engine's options, with different defaults: Workers is 1,
	// Queue is the Buffer of OpenFiles, and Prefetch is 2 after DoubleBuffer
	// and off otherwise.
	Pipeline pipeline.Options
	State    *dataset.State // where to start; nil means the beginning
}

// Start opens the files and returns a Run, which does not read samples yet. It
// returns the errors of parameters (they wrap dataset.ErrParam), of opening the
// files, and of dataset.Build.
func (r *Reader) Start(ctx context.Context, o Options) (*Run, error) {
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
	b, err := dataset.Build(ctx, r.d, o.Dataset)
	if err != nil {
		return nil, err
	}
	p, err := pipeline.New(b, o.Pipeline, o.State)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &Run{b: b, p: p}, nil
}

// Run reads the samples of a Reader. Only Stats may be called concurrently with
// other methods.
type Run struct {
	b *dataset.Built
	p *pipeline.Pipeline

	looked bool // next and err are the result of the next ReadNext
	next   *dataset.Sample
	err    error
	before *dataset.State // the state before next was read
}

// Columns describes the samples.
func (r *Run) Columns() []dataset.Column { return r.b.Columns() }

// HasNext reports whether ReadNext has another sample. It reads that sample, so
// the one before becomes invalid. It also saves the State before that read,
// which costs some time with a large Shuffle; a loop that doesn't need HasNext
// calls ReadNext until io.EOF. ReadNext returns the same error as HasNext.
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

// ReadNext returns the next sample or batch. At the end it returns io.EOF
// itself until ReInit. If ctx is cancelled while it waits, the run is over.
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

// ReInit starts the next epoch, whether or not the current one has ended.
func (r *Run) ReInit() error {
	r.forget()
	return r.p.NextEpoch()
}

// State returns the position after the last sample that ReadNext returned.
func (r *Run) State() *dataset.State {
	if r.looked && r.err == nil {
		return r.before
	}
	return r.p.State()
}

// Stats returns the counters of the engine's stages; see pipeline.Pipeline. It
// is safe for concurrent use.
func (r *Run) Stats() []pipeline.StageStats { return r.p.Stats() }

// Close ends the run and its goroutines and closes the files.
func (r *Run) Close() error {
	r.forget()
	return errors.Join(r.p.Close(), r.b.Close())
}
