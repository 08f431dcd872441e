package pack

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/internal/filelock"
)

func TestOrdered(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, workers := range []int{1, 2, 7} {
		var got []int
		var under, most atomic.Int32
		err := ordered(t.Context(), 3, 500, workers, func(_ context.Context, i int) (int, error) {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			return i * i, nil
		}, func(i, v int, err error) error {
			require.NoError(t, err)
			require.Equal(t, i*i, v)
			got = append(got, i)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, got, 497)
		for k, i := range got {
			require.Equal(t, k+3, i)
		}
		require.LessOrEqual(t, int(most.Load()), workers)

		stop := errors.New("stop")
		n := 0
		err = ordered(t.Context(), 0, 500, workers, func(_ context.Context, i int) (int, error) { return i, nil }, func(int, int, error) error {
			if n++; n == 10 {
				return stop
			}
			return nil
		})
		require.ErrorIs(t, err, stop)
		require.Equal(t, 10, n)

		ctx, cancel := context.WithCancel(t.Context())
		err = ordered(ctx, 0, 500, workers, func(ctx context.Context, i int) (int, error) {
			if i == 20 {
				cancel()
			}
			return i, nil
		}, func(int, int, error) error { return nil })
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, ordered(t.Context(), 5, 5, 2, nil, func(int, int, error) error { return nil }))
}

func TestJournal(t *testing.T) {
	type state struct{ Done, Size int }
	path := filepath.Join(t.TempDir(), "x.pack")
	j, states, err := openJournal[state](path, "abc")
	require.NoError(t, err)
	require.Empty(t, states)
	if filelock.Works {
		_, _, err = openJournal[state](path, "abc")
		require.ErrorIs(t, err, filelock.ErrLocked)
	}
	want := []state{{1, 10}, {2, 25}, {3, 31}}
	for _, s := range want {
		require.NoError(t, j.note(s))
	}
	require.NoError(t, j.close())
	_, _, err = openJournal[state](path, "abd")
	require.ErrorIs(t, err, ErrOther)

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := range len(whole) + 1 { // every truncation has a beginning of the states
		require.NoError(t, os.WriteFile(path, whole[:n], 0o644))
		j, states, err := openJournal[state](path, "abc")
		require.NoError(t, err)
		require.Equal(t, want[:len(states)], append([]state{}, states...), "%d bytes", n)
		require.NoError(t, j.note(state{9, 9}))
		require.NoError(t, j.close())
		j, again, err := openJournal[state](path, "abc")
		require.NoError(t, err)
		require.Equal(t, append(states, state{9, 9}), again)
		require.NoError(t, j.close())
	}
	for i := range whole { // and so has every damage
		b := append([]byte{}, whole...)
		b[i] ^= 4
		require.NoError(t, os.WriteFile(path, b, 0o644))
		j, states, err := openJournal[state](path, "abc")
		require.NoError(t, err)
		require.Equal(t, want[:len(states)], append([]state{}, states...), "byte %d", i)
		require.Less(t, len(states), len(want))
		require.NoError(t, j.close())
	}
	j, _, err = openJournal[state](path, "abc")
	require.NoError(t, err)
	require.NoError(t, j.remove())
	require.NoFileExists(t, path)
}
