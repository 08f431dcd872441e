package lazyregexp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNew(t *testing.T) {
	digits := New(`^\d+$`)
	require.True(t, digits().MatchString("17"))
	require.Same(t, digits(), digits())
	invalid := New(`(`)
	require.Panics(t, func() { invalid() })
}
