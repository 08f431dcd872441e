package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"syscall"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/ordered"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
)

// run is a Job that runs.
type run struct {
	job      *Job
	limits   codec.Limits
	compute  func(ctx context.Context, image *tensor.Tensor, use func(out []*tensor.Tensor) error) error
	sink     sink
	files    *imageFiles // that sink writes to, unless it writes batches
	batches  *batches    // the sink, if it writes batches to files
	inputs   []File
	workers  int
	remote   bool      // inputs or outputs are in a store: more images wait than jobs run
	existing *existing // nil without Job.Existing
	report   *report   // nil without Job.Report
	held     *budget   // of the inputs that hold their bytes
	reads    *budget   // of the files that workers hold
	kept     kept

	sum  Summary
	done int   // inputs that were processed
	full error // of the first image for which the disk was full
}

// outcome is the result of one input.
type outcome struct {
	in      *File
	left         // why it is no image, if it was found in a folder or by a glob
	existed bool // it had its outputs already
	dropped bool // in the last batch, which was not full
	err     error
	at      Kind // KindRead, KindWrite or KindInternal: where err is from, if known
	written
}

// ahead is the number of inputs for each worker that may be done before the
// first input that is not.
const ahead = 16

// remoteWorkers is the number of workers for each job if files are in a store,
// and leastRemoteWorkers the least number of workers. Most of them wait for
// answers: with 20 ms for each, 32 workers read 1600 files a second.
const remoteWorkers, leastRemoteWorkers = 8, 32

// newRun checks the job and returns its run, without inputs.
func (j *Job) newRun() (*run, error) {
	c, rules, err := j.columns()
	if err != nil {
		return nil, err
	}
	pool := j.Preprocessor.Pool()
	limits := pool.Plan().Limits()
	r := &run{
		job: j, limits: limits, compute: j.Compute, workers: pool.Jobs(),
		held: newBudget(limits.Bytes), reads: newBudget(limits.Bytes), kept: kept{limit: limits.Bytes, less: make(chan struct{}, 1)},
	}
	if r.compute == nil {
		r.compute = func(ctx context.Context, image *tensor.Tensor, use func(out []*tensor.Tensor) error) error {
			return pool.Do(ctx, func(x *datagraph.Runner) error {
				out, err := x.Run(image)
				if err != nil {
					return err
				}
				return use(out)
			})
		}
	}
	r.sink, r.files, r.batches = j.To.open(c, rules, limits, j.Existing != "")
	return r, nil
}

// nothing reports inputs that all failed before they were read.
func (r *run) nothing() (Summary, error) {
	for i := range r.inputs {
		in := &r.inputs[i]
		if err := r.result(Result{Path: in.Path, Status: Failed, Err: in.Err, Kind: kindOf(in.Err, KindRead)}); err != nil {
			return r.sum, err
		}
	}
	r.sum.Total = len(r.inputs)
	return r.sum, r.noInputs()
}

// prepare gives the images their outputs, and finds those that have them.
func (r *run) prepare(ctx context.Context, l *Listing) error {
	j := r.job
	inStore := func(in File) bool { return in.uri != "" && in.Err == nil && in.container == nil }
	if r.sum.Total = len(r.inputs); j.Stream != nil || unknown(r.inputs) {
		r.sum.Total = -1
	} else {
		r.workers = min(r.workers, len(r.inputs))
	}
	if j.Stream != nil {
		r.files = nil // each input is written by itself
		return nil
	}
	r.remote = paths.IsURI(j.To.Dir) || slices.ContainsFunc(r.inputs, inStore)
	if r.remote {
		r.workers = max(r.workers*remoteWorkers, leastRemoteWorkers)
	}
	if r.batches != nil && j.Existing != "" {
		listed, err := r.batches.earlier()
		r.existing = &existing{listed: listed}
		return err
	}
	if r.files == nil {
		return nil
	}
	r.files.number(ctx, r.inputs)
	l.claim(r.files)
	if j.Existing != "" {
		key, err := j.digest(&r.files.columns)
		if err != nil {
			return err
		}
		if r.existing, err = openExisting(r.files, j.Existing, key); err != nil {
			return err
		}
	}
	if j.Existing == ByContent || paths.IsURI(j.To.Dir) {
		return nil
	}
	return dropManifest(j.To.Dir)
}

// digest returns the digest of all that makes the outputs besides the images.
func (j *Job) digest(c *columns) (string, error) {
	b, err := j.Preprocessor.Graph().MarshalMsg(nil)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %v %v\n", j.Key, c.format.Name, c.names, c.inputs, c.batch, j.Preprocessor.Pool().Plan().Limits())
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// run processes the inputs and handles every outcome, in the order of the
// inputs and from one goroutine. When ctx ends it finishes the images that were
// begun, handles their outcomes and begins no others.
func (r *run) run(ctx context.Context) (Summary, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	r.progress()
	workers := make([]worker, r.workers)
	for i := range workers {
		workers[i] = worker{r: r}
	}
	o := ordered.Options{Workers: len(workers), Window: ahead * len(workers)}
	err := ordered.Stream(running, o, r.items,
		func(ctx context.Context, w int, in *File) (outcome, error) { return workers[w].do(ctx, in), nil },
		func(_ *File, o outcome, _ error) error {
			r.kept.add(-o.size)
			if (ctx.Err() != nil || r.full != nil) && errors.Is(o.err, context.Canceled) { // a request that was ended
				return nil
			}
			err := r.add(o)
			if r.full != nil {
				stop()
			}
			r.done++
			r.progress()
			return err
		})
	if err == nil && r.full == nil {
		err = r.finals(r.sink.close())
	}
	if err != nil || r.full != nil {
		err = errors.Join(err, r.sink.abort())
	}
	err = errors.Join(err, r.report.end(r.inputs), r.report.close(), r.existing.close())
	return r.sum, r.end(err)
}

// end returns the error of a run that ended with err.
func (r *run) end(err error) error {
	s := &r.sum
	switch {
	case r.full != nil:
		return fmt.Errorf("job: the disk is full: %w", r.full)
	case err != nil:
		return err
	case s.Done+s.Failed+s.Dropped+s.Present == 0:
		return r.noInputs()
	case s.Failed > 0:
		return fmt.Errorf("job: %d of %d %w; the first: %w", s.Failed, s.Done+s.Failed, ErrImages, s.First)
	}
	return nil
}

func (r *run) progress() {
	if r.job.Progress != nil {
		r.job.Progress(r.done, r.sum.Total)
	}
}

// add hands an outcome to the sink, unless it is final.
func (r *run) add(o outcome) error {
	switch {
	case o.why != "" || o.err != nil:
		return r.final(o)
	case o.existed && r.existing.files != nil: // lists have it
		return r.finals(r.existing.files.add(o))
	}
	return r.finals(r.sink.add(o))
}

func (r *run) finals(l []outcome, err error) error {
	for _, o := range l {
		err = errors.Join(err, r.final(o))
	}
	return err
}

// final reports what became of an input.
func (r *run) final(o outcome) error {
	o.in.reported = true
	x := Result{Path: o.in.Path, Name: o.in.Name, In: o.in.in}
	switch {
	case o.why != "":
		x.Status, x.Why, x.Suspect = Skipped, o.why, o.named
	case o.err != nil:
		x.Status, x.Err, x.Kind = Failed, o.err, kindOf(o.err, o.at)
	case o.existed:
		x.Status, x.Why = Present, "it has its outputs already"
	case o.dropped:
		x.Status, x.Why, x.Outputs = Dropped, "the last batch is not full", o.results
	default:
		x.Status, x.Outputs, x.Tensors, x.Labels = Done, o.results, o.tensors, o.best
	}
	if err := r.report.add(x); err != nil {
		return err
	}
	if diskFull(o.err) {
		if r.full != nil { // the first error says so already
			return nil
		}
		r.full = o.err
	}
	return r.result(x)
}

// result counts a result and hands it on.
func (r *run) result(x Result) error {
	switch x.Status {
	case Done:
		r.sum.Done++
	case Failed:
		r.sum.Failed++
		r.sum.First = cmp.Or(r.sum.First, x.Err)
	case Skipped:
		r.sum.Skipped++
	case Present:
		r.sum.Present++
	case Dropped:
		r.sum.Dropped++
	}
	if r.job.OnResult == nil {
		return nil
	}
	return r.job.OnResult(x)
}

// diskFull reports whether err would also happen to every later image.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// items makes the inputs in order. It opens containers and streams.
func (r *run) items(ctx context.Context) iter.Seq[*File] {
	return func(put func(*File) bool) {
		yield := func(in *File) bool { return r.kept.wait(ctx) && put(in) }
		if r.job.Stream != nil {
			for x := range r.job.Stream(ctx) {
				if !yield(r.streamed(x)) {
					return
				}
			}
			return
		}
		for i := range r.inputs {
			in := &r.inputs[i]
			more := false
			switch {
			case in.Err != nil:
				more = yield(in)
			case in.pipe:
				in.reported = true // it cannot be read again
				more = r.stream(ctx, in, yield)
			case in.container != nil:
				more = r.container(ctx, in, *in.container, nil, yield)
				in.reported = more
			default:
				r.number(ctx, in)
				more = yield(in)
			}
			if !more {
				return
			}
		}
	}
}

// streamed returns the file of an input that Job.Stream made.
func (r *run) streamed(x Input) *File {
	if x.Err != nil {
		return &File{Path: x.Path, Name: x.Name, Err: x.Err}
	}
	if x.Data == nil {
		in := One(r.job.files(), x.Path)
		in.pipe = false
		in.Name = cmp.Or(x.Name, keptName(x.Path))
		return in
	}
	in := &File{Path: x.Path, Name: x.Name, Explicit: true, held: true}
	size := int64(len(x.Data))
	if r.limits.Bytes > 0 && size > r.limits.Bytes {
		in.Err = fmt.Errorf("%s: %w", in.Path, tooLarge(size, r.limits.Bytes))
		return in
	}
	r.hold(in, x.Data, size)
	return in
}

// hold waits for memory for the bytes of an input, which free gives back.
func (r *run) hold(in *File, data []byte, size int64) {
	r.held.take(size)
	in.data, in.release = data, func() { r.held.give(size) }
}

// number numbers an image of a container, and one after it.
func (r *run) number(ctx context.Context, in *File) {
	if r.files != nil {
		r.files.numberLate(ctx, in)
	}
}
