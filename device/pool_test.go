package device_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// counted is a device whose sessions are counted.
type counted struct {
	device.Device
	opened, closed, running, most atomic.Int64
	refuse                        int64 // the number of the session that fails to open
}

var errNoMemory = errors.New("no memory")

func (d *counted) Open(*datagraph.Plan, device.Options) (device.Session, error) {
	if d.opened.Add(1) == d.refuse {
		return nil, errNoMemory
	}
	return &countedSession{d: d}, nil
}

type countedSession struct {
	d    *counted
	busy atomic.Bool
	out  tensor.Tensor
}

func (s *countedSession) Placement() device.Placement {
	return device.Placement{{Op: "decode", Where: "counted"}}
}

func (s *countedSession) ModelOutputs() []datagraph.Column {
	return []datagraph.Column{{Name: "scores"}}
}

func (s *countedSession) Preprocess(_ context.Context, in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if !s.busy.CompareAndSwap(false, true) {
		panic("a session in two runs at once")
	}
	defer s.busy.Store(false)
	s.d.most.Store(max(s.d.most.Load(), s.d.running.Add(1)))
	defer s.d.running.Add(-1)
	switch string(in[0].Data) {
	case "panic":
		panic("a bug")
	case "error":
		return nil, errNoMemory
	}
	s.out = *tensor.FromBytes(in[0].Data)
	return []*tensor.Tensor{&s.out}, nil
}

func (s *countedSession) Infer(ctx context.Context, in ...*tensor.Tensor) ([]tensor.Named, error) {
	out, err := s.Preprocess(ctx, in...)
	return []tensor.Named{{Name: "scores", T: out[0]}}, err
}

func (s *countedSession) Close() error {
	s.d.closed.Add(1)
	return nil
}

func TestPool(t *testing.T) {
	plan, err := datagraph.Compile(datagraph.New(transforms.NewDecode()), datagraph.CompileOptions{})
	require.NoError(t, err)
	d := &counted{}
	q, err := device.NewPool(d, plan, device.Options{}, 2)
	require.NoError(t, err)
	require.EqualValues(t, 2, d.opened.Load())
	require.Equal(t, device.Placement{{Op: "decode", Where: "counted"}}, q.Placement())
	require.Equal(t, plan.Outputs(), q.Outputs())
	run := func(text string, use func([]*tensor.Tensor) error) error {
		return q.Run(t.Context(), []*tensor.Tensor{tensor.FromBytes([]byte(text))}, use)
	}
	same := func(text string) func([]*tensor.Tensor) error {
		return func(out []*tensor.Tensor) error {
			require.Equal(t, text, string(out[0].Data))
			return nil
		}
	}

	// Runs in each other take a session each; the outputs stay valid.
	require.NoError(t, run("a", func(a []*tensor.Tensor) error {
		return run("b", func(b []*tensor.Tensor) error {
			err := run("c", same("c"))
			require.NoError(t, same("a")(a))
			return errors.Join(err, same("b")(b))
		})
	}))
	require.EqualValues(t, 3, d.opened.Load())

	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 100 {
				require.NoError(t, run("d", same("d")))
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 3, d.opened.Load(), "no more than run at once")

	require.ErrorIs(t, run("error", same("")), errNoMemory)
	errUse := errors.New("use")
	require.ErrorIs(t, run("e", func([]*tensor.Tensor) error { return errUse }), errUse)
	require.Zero(t, d.closed.Load(), "a bad image does not cost a session")
	require.PanicsWithValue(t, "a bug", func() { _ = run("panic", same("")) })
	require.EqualValues(t, 1, d.closed.Load())

	entered, leave, closed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_ = run("f", func([]*tensor.Tensor) error {
			close(entered)
			<-leave
			return nil
		})
	}()
	<-entered
	go func() { closed <- q.Close() }()
	require.Eventually(t, func() bool { return errors.Is(run("g", same("g")), device.ErrClosed) }, time.Minute, time.Millisecond)
	require.EqualValues(t, 1, d.closed.Load(), "Close waits for the run")
	close(leave)
	require.NoError(t, <-closed)
	require.Equal(t, d.opened.Load(), d.closed.Load())
	require.NoError(t, q.Close())
}

func TestPoolModel(t *testing.T) {
	plan, err := datagraph.Compile(datagraph.New(transforms.NewDecode()), datagraph.CompileOptions{})
	require.NoError(t, err)
	q, err := device.NewPool(&counted{}, plan, device.Options{Model: []byte("model")}, 0)
	require.NoError(t, err)
	require.Equal(t, []datagraph.Column{{Name: "scores"}}, q.Outputs())
	require.NoError(t, q.Run(t.Context(), []*tensor.Tensor{tensor.FromBytes([]byte("x"))}, func(out []*tensor.Tensor) error {
		require.Equal(t, "x", string(out[0].Data))
		return nil
	}))
	require.NoError(t, q.Close())
}

// TestPoolOpen: NewPool closes the sessions that it opened before one failed.
func TestPoolOpen(t *testing.T) {
	plan, err := datagraph.Compile(datagraph.New(transforms.NewDecode()), datagraph.CompileOptions{})
	require.NoError(t, err)
	d := &counted{refuse: 3}
	_, err = device.NewPool(d, plan, device.Options{}, 5)
	require.ErrorIs(t, err, errNoMemory)
	require.EqualValues(t, 3, d.opened.Load())
	require.EqualValues(t, 2, d.closed.Load())
}
