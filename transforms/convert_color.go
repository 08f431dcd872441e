package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/internal/lazy"
	"github.com/infer-prep/infer-prep/tensor"
)

// ColorSpace names the channels of an image.
type ColorSpace uint8

// The colour spaces.
const (
	RGB   ColorSpace = iota // red, green, blue
	BGR                     // blue, green, red
	RGBA                    // red, green, blue, alpha
	BGRA                    // blue, green, red, alpha
	Gray                    // one channel
	HSV                     // hue, saturation, value; the ranges depend on the backend
	YCrCb                   // luma, red difference, blue difference
)

var colorSpaceNames = []string{"rgb", "bgr", "rgba", "bgra", "gray", "hsv", "ycrcb"}

func (s ColorSpace) String() string { return enum.String("color space", colorSpaceNames, s) }

// MarshalText returns the name.
func (s ColorSpace) MarshalText() ([]byte, error) {
	return enum.Format("color space", colorSpaceNames, s)
}

// UnmarshalText parses the name.
func (s *ColorSpace) UnmarshalText(t []byte) error {
	return enum.Parse(s, "color space", colorSpaceNames, t)
}

func (s ColorSpace) channels() int {
	switch s {
	case RGBA, BGRA:
		return 4
	case Gray:
		return 1
	}
	return 3
}

// ConvertColor changes the colour space of a uint8 image, HWC or CHW, and keeps
// the layout. The image must have From's number of channels: 1 for gray, 4 for
// rgba and bgra, else 3. All results are integers of 0 to 255.
//
// Conversions between RGB, BGR, RGBA and BGRA reorder the channels: a new alpha
// is 255, and an old alpha is dropped. Gray becomes three equal channels. A
// colour becomes gray as in Grayscale with the same backend. The other
// conversions are:
//
//   - OpenCV, HSV: the hue is 0 to 179 in steps of 2 degrees. The conversion to
//     RGB matches OpenCV's x86-64 build on a CPU with AVX2. It truncates in the
//     columns that OpenCV processes 32 at a time, and rounds in the last W mod
//     32 columns of each row. Hues from 180 on wrap around.
//   - OpenCV, YCrCb: the 14-bit fixed point of COLOR_RGB2YCrCb and its inverse.
//   - Pillow, HSV: convert("HSV"), with all channels 0 to 255.
//   - Pillow, YCrCb: convert("YCbCr"), JPEG's full range, with the chroma
//     channels in the order Cr, Cb. A conversion between gray and its Y uses
//     Pillow's gray.
//
// A pair without a single conversion in the reference goes through RGB.
//
// Reference: OpenCV 5.0.0, cvtColor without IPP; Pillow 13.0.0, Image.convert.
type ConvertColor struct {
	From    ColorSpace `json:"from"`    // colour space of the input
	To      ColorSpace `json:"to"`      // colour space of the output; the same as From copies
	Backend Backend    `json:"backend"` // opencv or pillow; default opencv
}

//msgp:tuple ConvertColor

// NewConvertColor returns the op with OpenCV's arithmetic.
func NewConvertColor(from, to ColorSpace) *ConvertColor {
	return &ConvertColor{From: from, To: to, Backend: OpenCV}
}

// Info describes the op.
func (*ConvertColor) Info() Info {
	return Info{
		Name: "convert_color", Version: 1, New: func() Op { return NewConvertColor(RGB, BGR) },
		Reference: "OpenCV 5.0.0 cvtColor (x86-64 with AVX2, no IPP), Pillow 13.0.0 Image.convert", Exactness: "0",
	}
}

// Validate checks the names.
func (o *ConvertColor) Validate() error {
	for i, s := range []ColorSpace{o.From, o.To} {
		if err := checkEnum([]string{"from", "to"}[i], s, colorSpaceNames); err != nil {
			return err
		}
	}
	if o.Backend != OpenCV && o.Backend != Pillow {
		return paramErr("backend is %v, want opencv or pillow", o.Backend)
	}
	return nil
}

// Swaps reports whether the op converts between RGB and BGR.
func (o *ConvertColor) Swaps() bool {
	return o.From == RGB && o.To == BGR || o.From == BGR && o.To == RGB
}

// Infer changes the number of channels.
func (o *ConvertColor) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	if err := wantChannels(in[0], o.From.channels()); err != nil {
		return err
	}
	dst[0] = in[0].WithChannels(o.To.channels())
	return inferred(dst[0])
}

// order returns the positions of red, green, blue and alpha in a pixel, ok =
// false unless the space has those. A negative position is the complement of a
// constant.
func (s ColorSpace) order() (p [4]int, ok bool) {
	switch s {
	case RGB:
		return [4]int{0, 1, 2, ^255}, true
	case BGR:
		return [4]int{2, 1, 0, ^255}, true
	case RGBA:
		return [4]int{0, 1, 2, 3}, true
	case BGRA:
		return [4]int{2, 1, 0, 3}, true
	case Gray:
		return [4]int{0, 0, 0, ^255}, true
	}
	return p, false
}

// sources returns the channel of the input that each channel of the output
// copies, or the complement of a constant. ok is false if the conversion
// computes.
func (o *ConvertColor) sources() (from [4]int, ok bool) {
	in, ok := o.From.order()
	out, plain := o.To.order()
	switch {
	case o.From == o.To:
		return [4]int{0, 1, 2, 3}, true
	case o.Backend == Pillow && o.From == YCrCb && o.To == Gray:
		return from, true
	case o.Backend == Pillow && o.From == Gray && o.To == YCrCb:
		return [4]int{0, ^128, ^128}, true
	case !ok || !plain || o.To == Gray:
		return from, false
	}
	for i, at := range out {
		if at >= 0 {
			from[at] = in[i]
		}
	}
	return from, true
}

// Apply copies channels, or converts parts of the image to RGB and from there
// to the output.
func (o *ConvertColor) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if from, ok := o.sources(); ok {
		copyChannels(dst[0], s, from[:o.To.channels()])
		return nil
	}
	tmp := c.Scratch(3 * partLen)
	eachPart(c, dst[0], s, func(at int, out, in colorPart) {
		var p [3][]uint8
		n := len(in[0])
		if order, ok := o.From.order(); ok {
			for i := range p {
				p[i] = in[order[i]]
			}
		} else {
			order, ok := o.To.order()
			for i := range p {
				if p[i] = tmp[i*partLen:][:n]; ok && o.To != Gray {
					p[i] = out[order[i]]
				}
			}
			if at := order[3]; at > 0 {
				for i := range out[at] {
					out[at][i] = 255
				}
			}
			o.decode(p, rgb(in), at, s.Width())
		}
		o.encode(out, p)
	})
	return nil
}

// rgb returns the first three channels.
func rgb(p colorPart) [3][]uint8 { return [3][]uint8(p[:3]) }

// copyChannels sets channel i of every pixel to channel from[i] of src, or to
// the complement of from[i] if that is negative.
func copyChannels(dst, src *tensor.Tensor, from []int) {
	n := src.Height() * src.Width()
	if src.Layout == tensor.HWC {
		kernel.Rearrange(dst.Data, src.Data[:src.Len()], src.Channels(), from)
		return
	}
	for i, ch := range from {
		out := dst.Data[i*n:][:n]
		if ch >= 0 {
			copy(out, src.Data[ch*n:])
		} else {
			kernel.RepeatPixel(out, []uint8{uint8(^ch)})
		}
	}
}

// decode converts a part, which at pixels of an image precede, from HSV or
// YCrCb.
func (o *ConvertColor) decode(dst, src [3][]uint8, at, width int) {
	f := pillowFromHSV
	switch {
	case o.From == HSV && o.Backend == OpenCV:
		toRGBOpenCV(kernel.HSVHalf, dst, src, at, width, 0)
		return
	case o.From == YCrCb && o.Backend == OpenCV:
		f = openCVFromYCrCb
	case o.From == YCrCb:
		f = yccTables.Get((*yccTable).fill).toRGB
	}
	mapColorRow(dst, src, f)
}

// encode converts a part to gray, HSV or YCrCb.
func (o *ConvertColor) encode(out colorPart, src [3][]uint8) {
	f := pillowToHSV
	switch {
	case o.To == Gray:
		grayOf(o.Backend).Row(out[0], src[0], src[1], src[2])
		return
	case o.To == HSV && o.Backend == OpenCV:
		kernel.HSVHalf.FromRGBRow(rgb(out), src)
		return
	case o.To == YCrCb && o.Backend == OpenCV:
		kernel.GrayYCrCb.Row(out[0], src[0], src[1], src[2])
		kernel.ChromaRow(out[1], src[0], out[0], 11682)
		kernel.ChromaRow(out[2], src[2], out[0], 9241)
		return
	case o.To == YCrCb:
		f = yccTables.Get((*yccTable).fill).fromRGB
	case o.To != HSV:
		return // decode wrote it
	}
	mapColorRow(rgb(out), src, f)
}

func mapColorRow(dst, src [3][]uint8, f func(a, b, c uint8) (uint8, uint8, uint8)) {
	for i := range dst[0] {
		dst[0][i], dst[1][i], dst[2][i] = f(src[0][i], src[1][i], src[2][i])
	}
}

// toRGBOpenCV adds turn to the hues of a part, which at pixels of an image
// precede, and converts it to RGB. OpenCV rounds in the last columns of a row.
func toRGBOpenCV(k *kernel.CVHSV, dst, src [3][]uint8, at, width int, turn uint8) {
	body := width &^ 31
	for n := 0; len(dst[0]) > 0; at += n {
		x := at % width
		n = width - x
		if x < body {
			n = body - x
		}
		n = min(n, len(dst[0]))
		var from, to [3][]uint8
		for ch := range to {
			from[ch], src[ch] = src[ch][:n], src[ch][n:]
			to[ch], dst[ch] = dst[ch][:n], dst[ch][n:]
		}
		k.ToRGBRow(to, from, turn, x < body)
	}
}

func clamp8(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// openCVFromYCrCb uses 14-bit fixed point.
func openCVFromYCrCb(y, cr, cb uint8) (r, g, b uint8) {
	l, u, v := int32(y), int32(cr)-128, int32(cb)-128
	return clamp8(l + (22987*u+8192)>>14), clamp8(l + (-11698*u-5636*v+8192)>>14), clamp8(l + (29049*v+8192)>>14)
}

// Pillow's HSV is that of Python's colorsys, in float and double.

func pillowToHSV(r, g, b uint8) (h, s, v uint8) {
	v = max(r, g, b)
	lo := min(r, g, b)
	if v == lo {
		return 0, 0, v
	}
	d := float32(v - lo)
	rc, gc, bc := float32(v-r)/d, float32(v-g)/d, float32(v-b)/d
	var f float32
	switch v {
	case r:
		f = bc - gc
	case g:
		f = float32(2 + float64(rc) - float64(bc))
	default:
		f = float32(4 + float64(gc) - float64(rc))
	}
	turn := float64(f)/6 + 1
	if turn >= 1 {
		turn-- // at most 1 + 5/6, so this is the remainder modulo 1
	}
	f = float32(turn)
	return uint8(int32(float64(f) * 255)), uint8(int32(float64(d/float32(v)) * 255)), v
}

func pillowFromHSV(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	f, sat, val := pillowFraction[h], pillowUnit[s], float64(v)
	t := [4]uint8{
		v,
		roundUp8(float64(val * (1 - float64(sat)))),
		roundUp8(float64(val * (1 - float64(float64(sat)*float64(f))))),
		roundUp8(float64(val * (1 - float64(float64(sat)*(1-float64(f)))))),
	}
	p := kernel.HSVParts[pillowSector[h]]
	return t[p[0]], t[p[1]], t[p[2]]
}

// The sector of the colour circle of every hue, the position within it, and
// every value divided by 255.
var pillowSector, pillowFraction, pillowUnit = func() (sector [256]uint8, fraction, unit [256]float32) {
	for v := range unit {
		six := float64(v) * 6 / 255
		i := int32(six)
		sector[v], fraction[v] = uint8(i%6), float32(six-float64(i))
		unit[v] = float32(float64(v) / 255)
	}
	return sector, fraction, unit
}()

// roundUp8 rounds a number of 0 to 255 half up, like C's round.
func roundUp8(f float64) uint8 { return uint8(int32(f + 0.5)) }

// Pillow's YCbCr is JPEG's, with tables of the products in 6-bit fixed point.

type yccTable struct{ yr, yg, yb, br, bg, half, rg, rb, toR, toGCb, toGCr, toB [256]int32 }

var yccTables lazy.Table[yccTable]

func (t *yccTable) fill() {
	product := kernel.PillowYCCProduct
	for v := range 256 {
		t.yr[v], t.yg[v], t.yb[v] = product(29900, v), product(58700, v), product(11400, v)
		t.br[v], t.bg[v], t.half[v] = product(-16874, v), product(-33126, v), product(50000, v)
		t.rg[v], t.rb[v] = product(-41869, v), product(-8131, v)
		t.toR[v], t.toB[v] = product(140200, v-128), product(177200, v-128)
		t.toGCb[v], t.toGCr[v] = product(-34414, v-128), product(-71414, v-128)
	}
}

func (t *yccTable) fromRGB(r, g, b uint8) (y, cr, cb uint8) {
	return uint8((t.yr[r] + t.yg[g] + t.yb[b]) >> 6),
		uint8((t.half[r]+t.rg[g]+t.rb[b])>>6 + 128),
		uint8((t.br[r]+t.bg[g]+t.half[b])>>6 + 128)
}

func (t *yccTable) toRGB(y, cr, cb uint8) (r, g, b uint8) {
	l := int32(y)
	return clamp8(l + t.toR[cr]>>6), clamp8(l + (t.toGCb[cb]+t.toGCr[cr])>>6), clamp8(l + t.toB[cb]>>6)
}
