package transforms

import "github.com/infer-prep/infer-prep/tensor"

// The ops gift_* are filters of github.com/disintegration/gift 1.2.1. The
// prefix names the reference: filters of the same names in other libraries take
// other parameters and return other pixels.
//
// gift itself allocates for every image. On arm64 and others the compiler fuses
// its products into sums, which changes bytes. The ops have kernels of their
// own, which return on every platform what gift returns on amd64 (GOAMD64=v1).

const giftReference = "gift 1.2.1 (amd64)"

// wantGift rejects images that gift's ops do not support. One channel is an
// image.Gray, four are an image.NRGBA, and three are an opaque one.
func wantGift(d tensor.Desc) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	return wantChannels(d, 1, 3, 4)
}

// checkWindow wants the side of a window.
func checkWindow(name string, n int) error {
	if n < 1 || n > maxWindow || n%2 == 0 {
		return paramErr("%s is %d, want an odd number of 1 to %d", name, n, maxWindow)
	}
	return nil
}

// maxWindow bounds windows and square kernels, in pixels.
const maxWindow = 255

// giftUnits holds the values of bytes as gift computes with them.
var giftUnits = func() (t [256]float32) {
	for v := range t {
		t[v] = float32(float32(v) * (1.0 / 255))
	}
	return t
}()

// giftByte turns a value back into a byte. It rounds half up and clips.
func giftByte(v float32) uint8 {
	v = float32(v*255) + 0.5
	switch {
	case v >= 256:
		return 255
	case v >= 1:
		return uint8(v)
	}
	return 0
}

// giftGray returns the byte of an image.Gray for a pixel whose three colours
// are v.
func giftGray(v, alpha float32) uint8 {
	sum := float32(v*0.299) + float32(v*0.587) + float32(v*0.114)
	return giftByte(float32(sum * alpha))
}

// giftRows is an image as rows of one channel each.
type giftRows struct {
	data             []uint8
	h, w, ch         int
	pixel, next, row int // distances between pixels, channels and rows
}

func giftRowsOf(t *tensor.Tensor) giftRows {
	g := giftRows{data: t.Data, h: t.Height(), w: t.Width(), ch: t.Channels()}
	g.pixel, g.next = strides(t.Desc)
	g.row = g.w * g.pixel
	return g
}

// load reads a row of one channel.
func (g *giftRows) load(dst []float32, y, c int) {
	src := g.data[y*g.row+c*g.next:]
	for x := range dst[:g.w] {
		dst[x] = giftUnits[src[x*g.pixel]]
	}
}

// loadWide reads a row of one channel between half copies of its first and of
// its last value.
func (g *giftRows) loadWide(dst []float32, y, c, half int) {
	g.load(dst[half:], y, c)
	for x := range half {
		dst[x], dst[half+g.w+x] = dst[half], dst[half+g.w-1]
	}
}

// store writes a row of one channel. alpha is that of a gray image.
func (g *giftRows) store(src []float32, y, c int, alpha float32) {
	dst := g.data[y*g.row+c*g.next:]
	if g.ch == 1 {
		for x, v := range src[:g.w] {
			dst[x*g.pixel] = giftGray(v, alpha)
		}
		return
	}
	for x, v := range src[:g.w] {
		dst[x*g.pixel] = giftByte(v)
	}
}
