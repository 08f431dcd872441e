package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/kernel"
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

func init() {
	Register(Info{
		Name: "convert_color", Version: 1, New: func() Op { return NewConvertColor(RGB, BGR) },
		Reference: "OpenCV 5.0.0 cvtColor (x86-64 with AVX2, no IPP), Pillow 13.0.0 Image.convert", Exactness: "0",
	})
}

// NewConvertColor returns the op with OpenCV's arithmetic.
func NewConvertColor(from, to ColorSpace) *ConvertColor {
	return &ConvertColor{From: from, To: to, Backend: OpenCV}
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

// Apply converts each row to RGBA, and from there to the output.
func (o *ConvertColor) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if o.From == o.To {
		copy(dst[0].Data, s.Data)
		return nil
	}
	w, h := s.Width(), s.Height()
	buf := c.Scratch(4 * w)
	in, out := rows{data: s.Data}, rows{data: dst[0].Data}
	in.step, in.next = strides(s.Desc)
	out.step, out.next = strides(dst[0].Desc)
	for y := range h {
		in.start, out.start = y*w*in.step, y*w*out.step
		if o.Backend == Pillow && (o.From == YCrCb && o.To == Gray || o.From == Gray && o.To == YCrCb) {
			for x := range w {
				v, at := in.data[in.start+x*in.step], out.start+x*out.step
				out.data[at] = v
				if o.To == YCrCb {
					out.data[at+out.next], out.data[at+2*out.next] = 128, 128
				}
			}
			continue
		}
		o.decode(buf, in)
		o.encode(out, buf)
	}
	return nil
}

// rows is one row of an image: channel ch of pixel x is at start + x*step +
// ch*next.
type rows struct {
	data              []byte
	start, step, next int
}

// decode converts a row to RGBA.
func (o *ConvertColor) decode(buf []byte, in rows) {
	at := in.start
	for x := 0; x < len(buf)/4; x++ {
		q := buf[4*x : 4*x+4 : 4*x+4]
		a := in.data[at]
		q[3] = 255
		switch o.From {
		case Gray:
			q[0], q[1], q[2] = a, a, a
			at += in.step
			continue
		case RGBA, BGRA:
			q[3] = in.data[at+3*in.next]
		}
		b, c := in.data[at+in.next], in.data[at+2*in.next]
		at += in.step
		switch {
		case o.From == BGR || o.From == BGRA:
			a, c = c, a
		case o.From == HSV && o.Backend == OpenCV:
			a, b, c = kernel.HSVHalf.ToRGB(a, b, c, x < len(buf)/4&^31)
		case o.From == HSV:
			a, b, c = pillowFromHSV(a, b, c)
		case o.From == YCrCb && o.Backend == OpenCV:
			a, b, c = openCVFromYCrCb(a, b, c)
		case o.From == YCrCb:
			a, b, c = pillowFromYCrCb(a, b, c)
		}
		q[0], q[1], q[2] = a, b, c
	}
}

// encode converts a row from RGBA.
func (o *ConvertColor) encode(out rows, buf []byte) {
	at := out.start
	for x := 0; x < len(buf)/4; x++ {
		q := buf[4*x : 4*x+4 : 4*x+4]
		a, b, c := q[0], q[1], q[2]
		switch {
		case o.To == Gray:
			if o.Backend == Pillow {
				out.data[at] = kernel.GrayPillow.Of(a, b, c)
			} else {
				out.data[at] = kernel.GrayOpenCV.Of(a, b, c)
			}
			at += out.step
			continue
		case o.To == BGR || o.To == BGRA:
			a, c = c, a
		case o.To == HSV && o.Backend == OpenCV:
			a, b, c = kernel.HSVHalf.FromRGB(a, b, c)
		case o.To == HSV:
			a, b, c = pillowToHSV(a, b, c)
		case o.To == YCrCb && o.Backend == OpenCV:
			a, b, c = openCVToYCrCb(a, b, c)
		case o.To == YCrCb:
			a, b, c = pillowToYCrCb(a, b, c)
		}
		out.data[at], out.data[at+out.next], out.data[at+2*out.next] = a, b, c
		if o.To == RGBA || o.To == BGRA {
			out.data[at+3*out.next] = q[3]
		}
		at += out.step
	}
}

func clamp8(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// OpenCV's YCrCb uses 14-bit fixed point.

func openCVToYCrCb(r, g, b uint8) (y, cr, cb uint8) {
	l := (4899*int32(r) + 9617*int32(g) + 1868*int32(b) + 8192) >> 14
	const half = 128<<14 + 8192
	return uint8(l), clamp8((11682*(int32(r)-l) + half) >> 14), clamp8((9241*(int32(b)-l) + half) >> 14)
}

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

var yccTables = func() (t struct{ yr, yg, yb, br, bg, half, rg, rb, toR, toGCb, toGCr, toB [256]int32 }) {
	// factor is in units of 1/100000. The rounding matches int(factor*value*64
	// + 0.5), which does not round negative products to nearest.
	product := func(factor, v int) int32 { return int32((factor*v*64 + 50000) / 100000) }
	for v := range 256 {
		t.yr[v], t.yg[v], t.yb[v] = product(29900, v), product(58700, v), product(11400, v)
		t.br[v], t.bg[v], t.half[v] = product(-16874, v), product(-33126, v), product(50000, v)
		t.rg[v], t.rb[v] = product(-41869, v), product(-8131, v)
		t.toR[v], t.toB[v] = product(140200, v-128), product(177200, v-128)
		t.toGCb[v], t.toGCr[v] = product(-34414, v-128), product(-71414, v-128)
	}
	return t
}()

func pillowToYCrCb(r, g, b uint8) (y, cr, cb uint8) {
	t := &yccTables
	return uint8((t.yr[r] + t.yg[g] + t.yb[b]) >> 6),
		uint8((t.half[r]+t.rg[g]+t.rb[b])>>6 + 128),
		uint8((t.br[r]+t.bg[g]+t.half[b])>>6 + 128)
}

func pillowFromYCrCb(y, cr, cb uint8) (r, g, b uint8) {
	t, l := &yccTables, int32(y)
	return clamp8(l + t.toR[cr]>>6), clamp8(l + (t.toGCb[cb]+t.toGCr[cr])>>6), clamp8(l + t.toB[cb]>>6)
}
