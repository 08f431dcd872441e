package pack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/filelock"
)

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
		require.NoError(t, j.note(s, false))
	}
	require.NoError(t, j.close())
	_, _, err = openJournal[state](path, "abd")
	require.ErrorIs(t, err, ErrOther)

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := range len(whole) + 1 { // every truncation keeps the leading states
		require.NoError(t, os.WriteFile(path, whole[:n], 0o644))
		j, states, err := openJournal[state](path, "abc")
		require.NoError(t, err)
		require.Equal(t, want[:len(states)], append([]state{}, states...), "%d bytes", n)
		require.NoError(t, j.note(state{9, 9}, true))
		require.NoError(t, j.close())
		j, again, err := openJournal[state](path, "abc")
		require.NoError(t, err)
		require.Equal(t, append(states, state{9, 9}), again)
		require.NoError(t, j.close())
	}
	for i := range whole { // and so does every damage
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
