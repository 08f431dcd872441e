package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// memory is a Sink that keeps its samples.
type memory struct {
	Panics bool `json:"panics"` // in Write, at the third sample

	mu    sync.Mutex
	saved [][]string // of each epoch that was completed
	begun int
}

func (m *memory) Validate() error { return nil }

func (m *memory) ValidateColumns(_ context.Context, _ store.Opener, l []dataset.Column) error {
	if l[0].Desc.DType != tensor.Int64 {
		return fmt.Errorf("%w: %v, want int64", dataset.ErrDefinition, l[0].Desc)
	}
	return nil
}

func (m *memory) Create(ctx context.Context, _ store.Opener, _ []dataset.Column) (dataset.SinkWriter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun++
	return &memoryWriter{m: m, ctx: ctx, l: []string{}}, nil
}

// take returns what was saved since the last call.
func (m *memory) take() [][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.saved
	m.saved = nil
	return l
}

type memoryWriter struct {
	m   *memory
	ctx context.Context
	l   []string
}

func (w *memoryWriter) Write(s *dataset.Sample) error {
	if w.ctx.Err() != nil {
		return errors.New("the ctx of Create ended")
	}
	if w.m.Panics && len(w.l) == 2 {
		panic("third")
	}
	w.l = append(w.l, fmt.Sprint(tensor.View[int64](&s.Values[0].Tensor)))
	return nil
}

func (w *memoryWriter) Close() error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.saved = append(w.m.saved, w.l)
	return nil
}

func (w *memoryWriter) Abort() error { return nil }

// TestSinkGetsTheSamples checks that a Sink gets the samples of epoch 0 that
// the run returns, in their order, from random definitions on both engines, and
// nothing else.
func TestSinkGetsTheSamples(t *testing.T) {
	for seed := range graphs(t, 200) {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		m := &memory{}
		d := dataset.Of(m, definition(r, r.IntN(5)+1))
		if r.IntN(2) == 0 {
			d = d.Batch(1 + r.IntN(4)).Unbatch()
		}
		b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: uint64(seed)})
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrDefinition)
			continue
		}
		what := fmt.Sprintf("definition %d: %s", seed, describe(d.In[0]))
		for name, p := range engines(t, b, nil) {
			l := rest(t, p, 3000)
			if len(l) < 3000 {
				require.Equal(t, [][]string{l}, m.take(), "%s: %s", what, name)
			}
			require.NoError(t, p.NextEpoch())
			rest(t, p, 10)
			require.NoError(t, p.Close())
			require.Empty(t, m.take(), "%s: %s: epoch 1", what, name)
		}
		require.NoError(t, b.Close())
	}
}

// TestSinkFails checks a sink that panics, and columns that it refuses.
func TestSinkFails(t *testing.T) {
	m := &memory{Panics: true}
	b, err := dataset.Build(t.Context(), dataset.Of(m, dataset.Of(&numbers{N: 9})), dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	defer b.Close()
	for name, p := range engines(t, b, nil) {
		l, err := upTo(t, p, most)
		require.Equal(t, []string{"[0]", "[1]"}, l, name)
		var e *dataset.SampleError
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, "number 2", e.Key)
		require.ErrorContains(t, err, "save: panic: third")
		require.NoError(t, p.Close())
		require.EqualValues(t, 2, p.State().Step)
	}
	require.Empty(t, m.take())
	require.Equal(t, 5, m.begun)
	_, err = dataset.Build(t.Context(), dataset.Of(m, dataset.From(&vectors{[]int{1}})), dataset.Options{})
	require.ErrorContains(t, err, "*dataset_test.memory: invalid definition: int32 (?,), want int64")
}
