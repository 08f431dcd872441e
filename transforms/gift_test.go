package transforms

import (
	"image"
	"image/draw"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// asGift runs gift's filter on a HWC image of one, three or four channels.
func asGift(x *tensor.Tensor, f gift.Filter) []byte {
	h, w, ch := x.Height(), x.Width(), x.Channels()
	r := image.Rect(0, 0, w, h)
	var src, dst draw.Image
	var in, out []byte
	if ch == 1 {
		s, d := image.NewGray(r), image.NewGray(r)
		src, dst, in, out = s, d, s.Pix, d.Pix
	} else {
		s, d := image.NewNRGBA(r), image.NewNRGBA(r)
		src, dst, in, out = s, d, s.Pix, d.Pix
	}
	each := len(in) / (h * w)
	for i := range h * w {
		in[i*each+each-1] = 255
		copy(in[i*each:], x.Data[i*ch:][:ch])
	}
	gift.New(f).Draw(dst, src)
	var got []byte
	for i := range h * w {
		got = append(got, out[i*each:][:ch]...)
	}
	return got
}

// sameAsGift compares ops with random parameters on random images with gift.
// Filters that compute are compared on platforms that do not fuse products into
// sums, where gift returns what it returns on amd64.
func sameAsGift(t *testing.T, computes bool, draw func(r *rand.Rand) (Op, gift.Filter)) {
	t.Helper()
	if computes && (runtime.GOARCH != "amd64" || fuses(1+0x1p-20)) {
		t.Skip("gift returns other bytes on this platform")
	}
	r := rand.New(rand.NewPCG(1, 2))
	c := newContext()
	for range short.Rounds(t, 300, 60) {
		x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 1+r.IntN(20), 1+r.IntN(20), []int{1, 3, 4}[r.IntN(3)]))
		require.NoError(t, err)
		alpha := r.IntN(3) // any, opaque, or often 0
		for i := range x.Data {
			x.Data[i] = byte(r.Uint32())
			if x.Channels() == 4 && i%4 == 3 && (alpha == 1 || alpha == 2 && r.IntN(2) == 0) {
				x.Data[i] = byte(255 * (2 - alpha))
			}
		}
		op, filter := draw(r)
		got, err := run(c, op, x)
		require.NoError(t, err)
		require.Equal(t, asGift(x, filter), got[0].Data, "%v of %v", op, x.Desc)
	}
}

// fuses reports whether this platform rounds a product and its sum once.
//
//go:noinline
func fuses(a float32) bool { return a*a+-float32(a*a) != 0 }
