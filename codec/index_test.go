//go:build !small

package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// TestIndex: notes are found by all bytes of their images, and the first ones
// that fit are kept.
func TestIndex(t *testing.T) {
	_, err := codec.NewIndex(-1)
	require.EqualError(t, err, "codec: index of -1 bytes: want 0 or more")
	x, err := codec.NewIndex(2000)
	require.NoError(t, err)
	data := make([]byte, 1000)
	note, full := x.Find(data, 1)
	require.Nil(t, note)
	require.False(t, full)
	x.Keep(data, 1, []byte("one"))
	x.Keep(data, 1, []byte("again"))
	for i := range data {
		data[i]++
		note, _ = x.Find(data, 1)
		require.Nil(t, note, i)
		data[i]--
	}
	note, _ = x.Find(data, 1)
	require.Equal(t, "one", string(note))
	note, _ = x.Find(data, 2)
	require.Nil(t, note)
	note, _ = x.Find(data[:999], 1)
	require.Nil(t, note)

	x.Keep(data[:999], 1, make([]byte, 1900)) // too much
	for i := range 100 {
		x.Keep(data[:i], 1, make([]byte, 10))
	}
	note, full = x.Find(data, 1)
	require.Equal(t, "one", string(note))
	require.True(t, full)
	images, bytes := x.Stats()
	require.Greater(t, images, 10)
	require.LessOrEqual(t, bytes, int64(2000))
	require.Greater(t, bytes, int64(1800))
}
