package binding

import (
	"context"
	"errors"
	"fmt"
	"time"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

// Write says what Graph.Write reads and where the tensors go. The zero value of
// a field is the default of package job.
type Write struct {
	Inputs    []string `json:"inputs"` // paths and URIs
	Out       string   `json:"out"`
	Format    string   `json:"format"`
	BatchSize int      `json:"batch_size"`
	LastBatch string   `json:"last_batch"`
	Existing  string   `json:"existing"`
	Report    string   `json:"report"`
	Force     bool     `json:"force"`
}

// Written counts the inputs of a run by what became of them.
type Written struct {
	Done    int    `json:"done"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped"`
	Present int    `json:"present"`
	Dropped int    `json:"dropped"`
	First   string `json:"first"` // the error of the first image that failed
}

// Writing is a run of package job. It is safe for concurrent use.
type Writing struct {
	stop func()
	done chan struct{}
	sum  job.Summary // after done is closed
	err  error
}

// Write begins a run of the graph over many images. The caller closes it.
func (g *Graph) Write(w Write) (*Writing, error) {
	if err := g.use(); err != nil {
		return nil, err
	}
	p, err := inferprep.New(g.plan.Graph(), inferprep.Options{})
	if err != nil {
		return nil, err
	}
	j := &job.Job{
		Preprocessor: p, Inputs: job.Paths(w.Inputs...), Existing: job.Existing(w.Existing), Report: w.Report,
		To: job.Sink{Dir: w.Out, Format: w.Format, BatchSize: w.BatchSize, LastBatch: w.LastBatch, Force: w.Force},
	}
	if g.on != nil {
		j.Compute = func(ctx context.Context, image *tensor.Tensor, use func(out []*tensor.Tensor) error) error {
			return p.Pool().Do(ctx, func(r *datagraph.Runner) error {
				if _, err := r.Admit(image); err != nil {
					return err
				}
				return g.on.Run(ctx, []*tensor.Tensor{image}, use)
			})
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	x := &Writing{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		defer Guard(&x.err)
		x.sum, x.err = j.Run(ctx)
	}()
	return x, nil
}

// Wait waits for the end of the run, or returns ErrWait after d. Images that
// failed are counted; the error is that of the run.
func (w *Writing) Wait(d time.Duration) (Written, error) {
	select {
	case <-w.done:
	case <-time.After(d):
		return Written{}, ErrWait
	}
	s := Written{Done: w.sum.Done, Failed: w.sum.Failed, Skipped: w.sum.Skipped, Present: w.sum.Present, Dropped: w.sum.Dropped}
	if w.sum.First != nil {
		s.First = w.sum.First.Error()
	}
	if err := w.err; err != nil && !errors.Is(err, job.ErrImages) {
		if errors.Is(err, job.ErrOption) || errors.Is(err, job.ErrNoImages) {
			err = fmt.Errorf("%w: %w", errInput, err)
		}
		return s, fmt.Errorf("infer_prep: write: %w", err)
	}
	return s, nil
}

// Close ends the run: images that were begun are finished, and no others are
// begun.
func (w *Writing) Close() error {
	w.stop()
	<-w.done
	return nil
}
