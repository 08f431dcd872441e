package generator

import (
	"context"
	"errors"
	"io"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

var columns = []dataset.Column{
	{Name: "n", Desc: tensor.Desc{DType: tensor.Int32}},
	{Name: "text", Desc: tensor.Encoded()},
}

// counter counts up to an end that differs between epochs.
type counter struct{ at, end int32 }

func (c *counter) Next(_ context.Context, s *dataset.Sample) error {
	if c.at == c.end {
		return io.EOF
	}
	c.at++
	copy(s.Column("text").Bytes(int(c.at)), "some text that is cut")
	return s.Column("n").SetInt32(c.at)
}

func (c *counter) Close() error { return nil }

func start(epoch uint64) (dataset.Reader, error) { return &counter{end: 5 + int32(epoch)}, nil }

// count yields the same samples as an iterator that reuses its tensors.
func count(epoch uint64) iter.Seq2[[]*tensor.Tensor, error] {
	return func(yield func([]*tensor.Tensor, error) bool) {
		n, _ := tensor.New(columns[0].Desc)
		text := tensor.FromBytes(nil)
		for i := range int32(5 + epoch) {
			tensor.View[int32](n)[0] = i + 1
			text.Data = []byte("some text that is cut")[:i+1]
			if !yield([]*tensor.Tensor{n, text}, nil) {
				return
			}
		}
	}
}

func init() { Register("count", Definition{columns, start}) }

func TestGenerator(t *testing.T) {
	sourcetest.Spec(t, New("count"))
	for _, src := range []dataset.Source{New("count"), NewFunc(Definition{columns, start}), NewFunc(Definition{columns, Iter(count)})} {
		sourcetest.Run(t, src)
		d, err := src.Open(t.Context(), store.Local)
		require.NoError(t, err)
		for epoch := range uint64(3) {
			r, err := d.(dataset.Stream).Start(t.Context(), epoch)
			require.NoError(t, err)
			s := dataset.NewSample(d.Columns())
			for i := range 5 + int32(epoch) {
				require.NoError(t, r.Next(t.Context(), s))
				require.Equal(t, []int32{i + 1}, tensor.View[int32](&s.Column("n").Tensor))
				require.Equal(t, "some text that is cut"[:i+1], string(s.Column("text").Data))
			}
			require.Equal(t, io.EOF, r.Next(t.Context(), s))
			require.NoError(t, r.Close())
		}
	}
}

func TestAllocs(t *testing.T) {
	endless := Definition{columns, func(uint64) (dataset.Reader, error) { return &counter{at: -1 << 30, end: 1}, nil }}
	endless.Columns = columns[:1]
	endless.Start = func(uint64) (dataset.Reader, error) { return numbers{}, nil }
	d, err := NewFunc(endless).Open(t.Context(), store.Local)
	require.NoError(t, err)
	r, err := d.(dataset.Stream).Start(t.Context(), 0)
	require.NoError(t, err)
	s := dataset.NewSample(d.Columns())
	require.NoError(t, r.Next(t.Context(), s))
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = r.Next(t.Context(), s) }))
}

type numbers struct{}

func (numbers) Next(_ context.Context, s *dataset.Sample) error { return s.Column("n").SetInt32(7) }
func (numbers) Close() error                                    { return nil }

// TestCloseEndsIterator checks that Close runs the deferred calls of an
// unfinished iterator.
func TestCloseEndsIterator(t *testing.T) {
	ended := false
	before := goleak.IgnoreCurrent()
	d, err := NewFunc(Definition{columns, Iter(func(uint64) iter.Seq2[[]*tensor.Tensor, error] {
		return func(yield func([]*tensor.Tensor, error) bool) {
			defer func() { ended = true }()
			for v, err := range count(1000) {
				if !yield(v, err) {
					return
				}
			}
		}
	})}).Open(t.Context(), store.Local)
	require.NoError(t, err)
	r, err := d.(dataset.Stream).Start(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, r.Next(t.Context(), dataset.NewSample(d.Columns())))
	require.False(t, ended)
	require.NoError(t, r.Close())
	require.True(t, ended)
	require.NoError(t, goleak.Find(before, goleak.IgnoreAnyFunction("runtime.handleEvent"))) // the second goroutine belongs to the runtime on js
}

func TestErrors(t *testing.T) {
	gone := errors.New("gone")
	give := func(ts ...*tensor.Tensor) Definition {
		return Definition{columns, Iter(func(uint64) iter.Seq2[[]*tensor.Tensor, error] {
			return func(yield func([]*tensor.Tensor, error) bool) { yield(ts, nil) }
		})}
	}
	n, _ := tensor.New(columns[0].Desc)
	for _, c := range []struct {
		d    Definition
		kind error
		want string
	}{
		{Definition{columns, func(uint64) (dataset.Reader, error) { return nil, gone }}, gone, "epoch 3"},
		{Definition{columns, Iter(func(uint64) iter.Seq2[[]*tensor.Tensor, error] {
			return func(yield func([]*tensor.Tensor, error) bool) { yield(nil, gone) }
		})}, gone, "epoch 3, sample 0"},
		{give(n), dataset.ErrData, "1 values, want 2"},
		{give(n, nil), dataset.ErrData, "value 1 is nil"},
		{give(n, n), dataset.ErrData, "text is int32"},
	} {
		d, err := NewFunc(c.d).Open(t.Context(), store.Local)
		require.NoError(t, err)
		r, err := d.(dataset.Stream).Start(t.Context(), 3)
		if err == nil {
			err = r.Next(t.Context(), dataset.NewSample(d.Columns()))
			require.Equal(t, err, r.Next(t.Context(), dataset.NewSample(d.Columns())), "the error stays")
			require.NoError(t, r.Close())
		}
		require.ErrorIs(t, err, c.kind)
		require.ErrorContains(t, err, c.want)
	}
	require.ErrorIs(t, New("no such").Validate(), dataset.ErrParam)
	_, err := New("no such").Open(t.Context(), store.Local)
	require.ErrorContains(t, err, `unknown generator "no such"; known: count`)
	require.ErrorIs(t, NewFunc(Definition{}).Validate(), dataset.ErrParam)
	_, err = NewFunc(Definition{}).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	require.Panics(t, func() { Register("count", Definition{columns, start}) })
	require.Zero(t, dataset.InfoOf(NewFunc(Definition{})).Version, "a function without a name is not written")
}

func TestCancel(t *testing.T) {
	sourcetest.Cancel(t, New("count"))
	sourcetest.Cancel(t, NewFunc(Definition{columns, Iter(count)}))
}
