package datagraph_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
)

// pool returns a Pool for images of the format "counted".
func pool(t *testing.T, o datagraph.PoolOptions, l codec.Limits) *datagraph.Pool {
	plan, err := datagraph.Compile(datagraph.New(x.NewDecode(), x.NewResize(16, 16), x.NewToTensor()), datagraph.CompileOptions{Limits: l})
	require.NoError(t, err)
	return plan.NewPool(o)
}

// TestPoolReadsHeaderOnce counts the headers that a run in a Pool reads, which
// needs them for its memory as well.
func TestPoolReadsHeaderOnce(t *testing.T) {
	p := pool(t, datagraph.PoolOptions{Jobs: 1}, codec.Limits{})
	image := tensor.FromBytes([]byte("counted\x20\x07"))
	for range 3 {
		headers = 0
		require.NoError(t, p.Do(t.Context(), func(r *datagraph.Runner) error {
			_, err := r.Run(image)
			return err
		}))
		require.Equal(t, 1, headers)
	}
}

// TestPoolAllocatesNothing runs one image after another in a Pool with a limit.
// The format "counted" itself allocates a row.
func TestPoolAllocatesNothing(t *testing.T) {
	p := pool(t, datagraph.PoolOptions{Jobs: 1}, codec.Limits{})
	images := []*tensor.Tensor{tensor.FromBytes([]byte("counted\x20\x07"))}
	ctx := t.Context()
	pooled := func() {
		err := p.Do(ctx, func(r *datagraph.Runner) error {
			_, err := r.Run(images...)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	r := p.Plan().NewRunner()
	alone := func() {
		if _, err := r.Run(images...); err != nil {
			t.Error(err)
		}
	}
	require.Equal(t, testing.AllocsPerRun(100, alone), testing.AllocsPerRun(100, pooled))
}

// TestPoolBounds holds runs in use and counts them: at most Jobs, and at most
// as many as their memory permits. One that needs more than all runs alone.
func TestPoolBounds(t *testing.T) {
	const images = 12
	c, err := pool(t, datagraph.PoolOptions{}, codec.Limits{}).Plan().NewRunner().Costs(tensor.FromBytes([]byte("counted\x20\x07")))
	require.NoError(t, err)
	need := c.Memory()
	for _, c := range []struct {
		name string
		o    datagraph.PoolOptions
		most int64
	}{
		{"jobs", datagraph.PoolOptions{Jobs: 3, Bytes: -1}, 3},
		{"memory", datagraph.PoolOptions{Jobs: 8, Bytes: 3*need - 1}, 2},
		{"alone", datagraph.PoolOptions{Jobs: 8, Bytes: 10}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pool(t, c.o, codec.Limits{})
			var running, most, done atomic.Int64
			var wg sync.WaitGroup
			for range images {
				wg.Go(func() {
					err := p.Do(t.Context(), func(r *datagraph.Runner) error {
						out, err := r.Run(tensor.FromBytes([]byte("counted\x20\x07")))
						if err != nil {
							return err
						}
						n := running.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						if out[0].Desc.Size() != 3*16*16*4 {
							t.Error(out[0].Desc)
						}
						for i := 0; i < 1000 && running.Load() < c.most; i++ {
							runtime.Gosched() // let others join
						}
						running.Add(-1)
						done.Add(1)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, images, done.Load())
			require.LessOrEqual(t, most.Load(), c.most)
		})
	}
}

// TestPoolEnds checks errors, contexts that end, and panics.
func TestPoolEnds(t *testing.T) {
	p := pool(t, datagraph.PoolOptions{Jobs: 1, Bytes: 100}, codec.Limits{})
	image := tensor.FromBytes([]byte("counted\x20\x07"))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user left")
	run := func(r *datagraph.Runner) error { _, err := r.Run(image); return err }
	require.NoError(t, p.Do(ctx, func(*datagraph.Runner) error {
		cancel(cause)
		require.ErrorIs(t, p.Do(ctx, run), cause) // while the Runner is lent
		return nil
	}))
	require.ErrorIs(t, p.Do(ctx, run), cause)
	require.PanicsWithValue(t, "bug", func() {
		_ = p.Do(t.Context(), func(r *datagraph.Runner) error {
			if err := run(r); err != nil {
				return err
			}
			panic("bug")
		})
	})
	require.ErrorIs(t, p.Do(t.Context(), func(r *datagraph.Runner) error {
		_, err := r.Run(tensor.FromBytes([]byte("no image")))
		return err
	}), codec.ErrFormat)
	require.NoError(t, p.Do(t.Context(), run)) // the place and its memory are free
}
