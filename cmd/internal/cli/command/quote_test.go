package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShellQuoted(t *testing.T) {
	for s, want := range map[string]string{"": "''", "a/b-c_1.png": "a/b-c_1.png", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "é": "'é'", "*.png": "'*.png'"} {
		require.Equal(t, want, ShellQuoted(s))
	}
}
