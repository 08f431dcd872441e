package sourcetest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// stamped checks that a FileCache can tell when a file of the source changes:
// Open opens or looks up every file that Read opens, or Stamp looks it up.
func stamped(t *testing.T, src dataset.Source, o store.Opener) {
	t.Helper()
	w := &watched{Opener: o}
	d, err := src.Open(t.Context(), w)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	rows, ok := d.(dataset.Rows)
	if !ok {
		return
	}
	known := w.take()
	s, isStamped := d.(dataset.Stamped)
	for i := range rows.Len() {
		if isStamped {
			b, err := s.Stamp(t.Context(), i, []byte("before"))
			if err == nil {
				require.Equal(t, "before", string(b[:6]), "Stamp appends")
			}
			for name := range w.take() {
				known[name] = true
			}
		}
		if rows.Read(t.Context(), i, dataset.NewSample(d.Columns())) != nil {
			continue
		}
		for name := range w.take() {
			require.True(t, known[name], "row %d reads %s, which neither Open nor Stamp has looked up", i, name)
		}
	}
	if isStamped {
		_, err := s.Stamp(t.Context(), rows.Len(), nil)
		require.ErrorIs(t, err, dataset.ErrParam, "Stamp of a row beyond the end")
		_, err = s.Stamp(t.Context(), -1, nil)
		require.ErrorIs(t, err, dataset.ErrParam, "Stamp of row -1")
	}
}

// watched is a store that notes the names that are opened or looked up.
type watched struct {
	store.Opener
	mu    sync.Mutex
	names map[string]bool
}

// take returns the names since the last take.
func (w *watched) take() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.names
	if w.names = nil; l == nil {
		l = map[string]bool{}
	}
	return l
}

func (w *watched) note(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names == nil {
		w.names = map[string]bool{}
	}
	w.names[clean(name)] = true
}

func (w *watched) Open(ctx context.Context, name string) (store.File, error) {
	w.note(name)
	return w.Opener.Open(ctx, name)
}

func (w *watched) Stat(ctx context.Context, name string) (store.Info, error) {
	w.note(name)
	return w.Opener.Stat(ctx, name)
}
