package enum

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type fruit uint8

func TestRoundTrip(t *testing.T) {
	names := []string{"apple", "pear"}
	for v, name := range names {
		require.Equal(t, name, String("fruit", names, fruit(v)))
		text, err := Format("fruit", names, fruit(v))
		require.NoError(t, err)
		var back fruit
		require.NoError(t, Parse(&back, "fruit", names, text))
		require.Equal(t, fruit(v), back)
	}
	require.Equal(t, "fruit(2)", String("fruit", names, fruit(2)))
	_, err := Format("fruit", names, fruit(2))
	require.EqualError(t, err, "invalid fruit 2")
	kept := fruit(1)
	require.EqualError(t, Parse(&kept, "fruit", names, []byte("Pear")), `unknown fruit "Pear", want one of apple, pear; did you mean "pear"?`)
	require.Equal(t, fruit(1), kept)
}
