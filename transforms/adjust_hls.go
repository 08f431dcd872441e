package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustHLS adds integers to the hue, the lightness and the saturation of every
// pixel. It takes a uint8 HWC image with the channels red, green and blue, and
// keeps the description. Values range from 0 to 255.
//
// The 8-bit hue has steps of 2 degrees, 0 to 179. Lightness and saturation
// range from 0 to 255. The sums are clamped to 0..180 (180 is the same hue as
// 0) and 0..255. Both conversions are float32 and round half to even. The
// saturation of light colours is d / (2-(max+min)), as in OpenCV's vector loop.
// In the last W mod 4 columns it is d / ((2-max)-min), as in the scalar loop.
//
// Reference: MXNet 1.9.1, random_h, random_l and random_s of ImageRecordIter.
// They call cvtColor with COLOR_BGR2HLS and COLOR_HLS2BGR of OpenCV 3.4.2,
// which MXNet's wheel contains (x86-64). Later OpenCV releases fuse
// multiplications and additions on CPUs with AVX2: 1601 of the 2^24 colours
// then differ, by up to 8.
type AdjustHLS struct {
	H int `json:"h"` // added to the hue, -255 to 255; 0 keeps it
	L int `json:"l"` // added to the lightness, -255 to 255; 0 keeps it
	S int `json:"s"` // added to the saturation, -255 to 255; 0 keeps it
}

//msgp:tuple AdjustHLS
//sheet:adjust_hls {"h": 60}

// NewAdjustHLS returns the op.
func NewAdjustHLS(h, l, s int) *AdjustHLS { return &AdjustHLS{h, l, s} }

// Info describes the op.
func (*AdjustHLS) Info() Info {
	return Info{
		Name: "adjust_hls", Version: 1, New: func() Op { return NewAdjustHLS(0, 0, 0) }, InPlace: true,
		Reference: "MXNet 1.9.1 ImageRecordIter random_h, random_l, random_s (OpenCV 3.4.2)", Exactness: "0",
	}
}

// Validate checks the range of the numbers.
func (o *AdjustHLS) Validate() error {
	for i, v := range [3]int{o.H, o.L, o.S} {
		if v < -255 || v > 255 {
			return paramErr("%s is %d, want -255 to 255", []string{"h", "l", "s"}[i], v)
		}
	}
	return nil
}

// Infer keeps the description.
func (o *AdjustHLS) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantColors(in[0])
}

// wantColors wants a uint8 HWC image of three channels.
func wantColors(d tensor.Desc) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	if d.Layout != tensor.HWC {
		return inputErr("%v, want layout HWC", d)
	}
	return wantChannels(d, 3)
}

// Apply converts to HLS, adds and converts back.
func (o *AdjustHLS) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	height, width := s.Height(), s.Width()
	add := [3]int32{int32(o.H), int32(o.L), int32(o.S)}
	for y := range height {
		in, out := s.Data[y*width*3:][:width*3], dst[0].Data[y*width*3:][:width*3]
		for x := range width {
			p, q := in[3*x:][:3], out[3*x:][:3]
			h, l, sat := openCVToHLS(p[0], p[1], p[2], x < width&^3)
			q[0], q[1], q[2] = openCVFromHLS(
				uint8(min(max(int32(h)+add[0], 0), 180)), clamp8(int32(l)+add[1]), clamp8(int32(sat)+add[2]))
		}
	}
	return nil
}

// near8 rounds a number within 0..255 half to even: from 2^23 on a float32 has
// no fraction.
func near8(f float32) uint8 { return uint8(math.Float32bits(f + 3<<22)) }

// openCVToHLS is COLOR_RGB2HLS of OpenCV 3.4.2. body reports whether the pixel
// is in its vector loop.
func openCVToHLS(r, g, b uint8, body bool) (h, l, s uint8) {
	most, least := max(r, g, b), min(r, g, b)
	top, low := torchUnit[most], torchUnit[least]
	sum, d := top+low, top-low
	light := float32(sum * 0.5)
	var hue, sat float32
	if most != least { // the smallest difference of two values is far above FLT_EPSILON
		rest := sum
		if light >= 0.5 {
			if body {
				rest = 2 - sum
			} else {
				rest = 2 - top - low
			}
		}
		sat = d / rest
		d = 60 / d
		fr, fg, fb := torchUnit[r], torchUnit[g], torchUnit[b]
		switch most {
		case r:
			hue = float32((fg - fb) * d)
		case g:
			hue = float32((fb-fr)*d) + 120
		default:
			hue = float32((fr-fg)*d) + 240
		}
		if hue < 0 {
			hue += 360
		}
	}
	return near8(float32(hue * 0.5)), near8(float32(light * 255)), near8(float32(sat * 255))
}

// hlsParts holds, for each sector, which of p2, p1 and the value between are
// red, green and blue. For each hue, hlsBetween holds the position of the value
// between, as a fraction of p2-p1.
var (
	hlsParts   = [6][3]uint8{{0, 2, 1}, {2, 0, 1}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {0, 1, 2}}
	hlsBetween = func() (t [256]float32) {
		for h := range t {
			sector, f := kernel.HSVHalf.Sector(uint8(h))
			if t[h] = f; sector%2 == 1 {
				t[h] = 1 - f
			}
		}
		return t
	}()
)

// openCVFromHLS is COLOR_HLS2RGB of OpenCV 3.4.2. The hue must be at most 180.
func openCVFromHLS(h, l, s uint8) (r, g, b uint8) {
	light, sat := torchUnit[l], torchUnit[s]
	p2 := float32(light * (1 + sat))
	if l > 127 { // light > 0.5
		p2 = light + sat - float32(light*sat)
	}
	p1 := float32(2*light) - p2
	between := p1 + float32((p2-p1)*hlsBetween[h])
	t := [3]uint8{near8(float32(p2 * 255)), near8(float32(p1 * 255)), near8(float32(between * 255))}
	sector, _ := kernel.HSVHalf.Sector(h)
	p := &hlsParts[sector]
	return t[p[0]], t[p[1]], t[p[2]]
}
