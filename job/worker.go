package job

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/tensor"
)

// worker turns one image after another into tensors and reuses its memory.
type worker struct {
	r     *run
	buf   []byte // of files
	data  []byte // of the image
	taken int64  // of the budget of reads
	image tensor.Tensor
	stamp made // of the image
}

// release gives back what an image took.
func (w *worker) release() {
	w.r.reads.give(w.taken)
	w.taken = 0
	if w.r.remote {
		w.buf = nil // many workers would each keep one
	}
}

func (w *worker) do(ctx context.Context, in *File) (o outcome) {
	defer in.free()
	defer w.release()
	o = outcome{in: in, err: in.Err}
	if in.Err != nil {
		o.at = KindRead
		return o
	}
	if in.skip != "" {
		o.left = left{in.skip, in.named}
		return o
	}
	defer func() {
		if p := recover(); p != nil { // a bug: the other images go on
			o.err, o.at = fmt.Errorf("internal error: %v", p), KindInternal
		}
		if o.err != nil {
			o.err = in.failure(o.at, o.err)
		}
	}()
	if o.existed, o.err = w.r.existing.before(ctx, in); o.existed || o.err != nil {
		o.at = KindWrite
		return o
	}
	w.stamp = w.r.existing.stamp(in)
	if w.data, o.left, o.err = w.read(ctx, in); o.why != "" || o.err != nil {
		o.at = KindRead
		return o
	}
	if o.existed, o.err = w.r.existing.after(in, &w.stamp, w.data); o.existed || o.err != nil {
		o.at = KindWrite
		return o
	}
	if o = w.compute(ctx, o); o.err != nil {
		return o
	}
	if o.upload != nil {
		o.err = o.upload(ctx)
		o.upload = nil
	}
	if o.err == nil {
		o.err = w.r.existing.done(in, w.stamp)
	}
	if o.err != nil {
		o.at = KindWrite
	}
	w.r.kept.add(o.size)
	return o
}

// compute runs the plan on the image and hands the outputs to the sink. An
// image that was begun is finished when ctx ends.
func (w *worker) compute(ctx context.Context, o outcome) outcome {
	w.image = *tensor.FromBytes(w.data)
	ctx = context.WithoutCancel(ctx)
	o.err = w.r.compute(ctx, &w.image, func(out []*tensor.Tensor) (err error) {
		if o.written, err = w.r.sink.write(o.in.Name, out); err != nil {
			o.at = KindWrite
		}
		return err
	})
	return o
}

// left says why a file is left out; why is "" if it is not.
type left struct {
	why   string
	named bool // a user could expect it to be an image
}

// read reads an input, unless it holds its bytes.
func (w *worker) read(ctx context.Context, in *File) (data []byte, l left, err error) {
	limits := w.r.limits
	data, l, err = in.read(ctx, limits, w.buf, func(size int64) {
		if w.r.remote && (limits.Bytes <= 0 || size <= limits.Bytes) {
			w.r.reads.take(size)
			w.taken = size
		}
	})
	if !in.held && data != nil {
		w.buf = data
	}
	return data, l, err
}
