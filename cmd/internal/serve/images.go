package serve

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// run computes the tensors of an image and calls use with them. They are valid
// until use returns. It sets size to the image's height and width, or to the
// sound's channels and samples.
func (s *Server) run(ctx context.Context, r *datagraph.Runner, image []byte, size *[2]int, use func([]*tensor.Tensor) error) error {
	in := tensor.FromBytes(image)
	costs, err := r.Admit(in)
	if err != nil {
		return err
	}
	s.metrics.bytes.Add(int64(len(image)))
	if len(costs.Descs) == 0 {
	} else if d := costs.Descs[0][0]; s.o.Noun == sound && d.Shape.Rank() == 2 {
		*size = [2]int{d.Shape.At(0), d.Shape.At(1)}
		s.metrics.samples.Add(int64(d.Shape.At(0)) * int64(d.Shape.At(1)))
	} else if d.IsImage() {
		*size = [2]int{d.Height(), d.Width()}
		s.metrics.pixels.Add(int64(d.Height()) * int64(d.Width()))
	}
	done := func(out []*tensor.Tensor) error {
		s.metrics.images.Add(1)
		return use(out)
	}
	if s.o.Device != nil {
		return s.o.Device.Run(ctx, []*tensor.Tensor{in}, done)
	}
	out, err := r.Run(in)
	if err != nil {
		return err
	}
	return done(out)
}

// batches computes the batches of the outputs that r wants. The images of a
// request run on as many workers as are idle. When ctx ends, images that were
// begun are finished, and no others are begun.
func (s *Server) batches(ctx context.Context, r *request, l *lease) ([]*tensor.Tensor, error) {
	var batches []*tensor.Tensor
	samples := make([][]*tensor.Tensor, len(r.images)) // by image, of the wanted outputs
	var failed struct {                                // the first failure
		sync.Once
		image int
		err   error
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	use := func(i int, out []*tensor.Tensor) (err error) {
		for _, o := range r.outputs {
			samples[i] = append(samples[i], out[o.column])
		}
		if len(r.images) == 1 { // no need to clone
			batches, err = s.collate(r, samples, l)
			return err
		}
		for j, t := range samples[i] {
			if err := l.grow(t.Size()); err != nil {
				return err
			}
			samples[i][j] = t.Clone()
		}
		return nil
	}
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(r.images) || inner.Err() != nil {
				return
			}
			if err := s.one(inner, r.images[i], &r.sizes[i], func(out []*tensor.Tensor) error { return use(i, out) }); err != nil {
				failed.Do(func() { failed.image, failed.err = i, err })
				cancel() // the other images are of no use
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(len(r.images), s.o.Jobs) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case failed.err != nil && len(r.images) > 1:
		return nil, &statusError{statusOf(failed.err), fmt.Errorf("%s %d: %w", s.o.Noun, failed.image, failed.err)}
	case failed.err != nil:
		return nil, failed.err
	}
	if len(r.images) > 1 {
		return s.collate(r, samples, l)
	}
	return batches, nil
}

// one runs an image on the next idle Runner.
func (s *Server) one(ctx context.Context, image []byte, size *[2]int, use func([]*tensor.Tensor) error) (err error) {
	waiting := true
	s.metrics.waiting.Add(1)
	defer func() {
		if waiting {
			s.metrics.waiting.Add(-1)
		} else {
			s.metrics.running.Add(-1)
		}
		if p := recover(); p != nil { // a bug: the other images go on
			s.o.Log.Printf("internal error: %v\n%s", p, debug.Stack())
			err = fail(http.StatusInternalServerError, "internal error")
		}
	}()
	return s.pool.Do(ctx, func(r *datagraph.Runner) error {
		waiting = false
		s.metrics.waiting.Add(-1)
		s.metrics.running.Add(1)
		return s.run(ctx, r, image, size, use)
	})
}

// collate forms the batches of samples, which hold the wanted outputs. The
// caller may release the batches.
func (s *Server) collate(r *request, samples [][]*tensor.Tensor, l *lease) ([]*tensor.Tensor, error) {
	batches := make([]*tensor.Tensor, len(r.outputs))
	list := make([]*tensor.Tensor, len(samples))
	for j, o := range r.outputs {
		c := r.columns[o.column]
		for i := range samples {
			list[i] = samples[i][j]
		}
		d, err := c.Batch.Shape(list)
		if err != nil {
			return nil, fail(http.StatusBadRequest, "output %q: the %ss have no batch: %w", c.Name, s.o.Noun, err)
		}
		if limit := s.o.Plan.Limits().Bytes; limit > 0 && d.Size() > limit {
			return nil, fmt.Errorf("%w: output %q: the batch has %d bytes, the limit is %d", codec.ErrLimit, c.Name, d.Size(), limit)
		}
		if err := l.grow(d.Size()); err != nil {
			return nil, err
		}
		if batches[j], err = s.spare(d); err != nil {
			return nil, err
		}
		if err := c.Batch.Fill(batches[j], list); err != nil {
			return nil, err
		}
	}
	return batches, nil
}

// spare returns a tensor in the memory of an earlier response, if that fits. A
// response of a photograph's tensor is 600 KB: the garbage collector would take
// a tenth of the time.
func (s *Server) spare(d tensor.Desc) (*tensor.Tensor, error) {
	t, _ := s.spares.Get().(*tensor.Tensor)
	if t == nil || int64(cap(t.Data)) > 2*d.Size() { // too much would be held
		t = &tensor.Tensor{}
	}
	return t, t.Reset(d)
}

// maxSpare is the largest number of bytes that are kept of a tensor. The leases
// of spares have ended.
const maxSpare = 8 << 20

// release returns the memory of batches, which must not be used afterwards.
func (s *Server) release(batches []*tensor.Tensor) {
	for _, t := range batches {
		if cap(t.Data) <= maxSpare {
			s.spares.Put(t)
		}
	}
}
