package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// TestQuickEqualsCareful decodes a file of more than one piece of 64 KiB, whole
// and damaged in many ways, with and without the quick decoder: both take or
// refuse it with the same words, and give the same pixels.
func TestQuickEqualsCareful(t *testing.T) {
	whole, err := os.ReadFile("../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	damage := []func(b []byte) []byte{
		func(b []byte) []byte { return b },
		func(b []byte) []byte { return b[:r.IntN(len(b))] },
		func(b []byte) []byte { return b[:65536-600+r.IntN(1200)] },
		func(b []byte) []byte { return b[:len(b)-r.IntN(700)] },
		func(b []byte) []byte { b[700+r.IntN(len(b)-700)] ^= 1 << r.IntN(8); return b },
		func(b []byte) []byte { b[65536-300+r.IntN(600)] ^= 1 << r.IntN(8); return b },
		func(b []byte) []byte { // a marker or a stuffed zero where there was none
			i := 700 + r.IntN(len(b)-702)
			b[i], b[i+1] = 0xFF, []byte{0, 0xFF, 0xD0, 0xD9, 0x01}[r.IntN(5)]
			return b
		},
		func(b []byte) []byte { i := 700 + r.IntN(len(b)-900); return append(b[:i:i], b[i+r.IntN(200):]...) },
	}
	quick, careful := NewDecoder(), NewDecoder()
	careful.quick.off = true
	var entered, accepted int
	for i := range 160 {
		data := damage[i%len(damage)](bytes.Clone(whole))
		var got, want codec.Raster
		o := codec.DefaultOptions()
		errQuick := quick.Decode(&got, data, &o)
		if quick.quick.Buf != nil {
			entered++
		}
		require.Equal(t, fmt.Sprint(careful.Decode(&want, data, &o)), fmt.Sprint(errQuick), "damage %d", i)
		if errQuick == nil {
			accepted++
			require.True(t, bytes.Equal(want.Pix, got.Pix), "damage %d: other pixels", i)
		}
	}
	require.Nil(t, careful.quick.Buf, "the careful decoder went the quick way")
	require.Greater(t, entered, 150)
	require.Greater(t, accepted, 60)
}
