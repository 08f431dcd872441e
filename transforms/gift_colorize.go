package transforms

import "github.com/infer-prep/infer-prep/tensor"

// GiftColorize gives all pixels one hue and one saturation. It takes a uint8
// image of one, three or four channels, HWC or CHW, and keeps the description
// and alpha.
//
// Values are float32 from 0 to 1, and every operation rounds to float32. The
// lightness l of a pixel is the mean of its greatest and its least value. The
// colour (Hue, Saturation, l) of the HSL model becomes r, g and b. Each value v
// of the pixel becomes v + (r-v)*Percentage/100, clipped and rounded half up.
// One channel becomes the luma 0.299r + 0.587g + 0.114b of the result for a
// gray pixel.
//
// Reference: gift 1.2.1, Colorize.
type GiftColorize struct {
	Hue        float64 `json:"hue"`        // angle in degrees, -360 to 360
	Saturation float64 `json:"saturation"` // 0 to 100
	Percentage float64 `json:"percentage"` // strength, 0 to 100; default 100
}

//msgp:tuple GiftColorize

// NewGiftColorize returns the op with full strength.
func NewGiftColorize(hue, saturation float64) *GiftColorize {
	return &GiftColorize{hue, saturation, 100}
}

// Info describes the op.
func (*GiftColorize) Info() Info {
	return Info{
		Name: "gift_colorize", Version: 1, New: func() Op { return NewGiftColorize(240, 50) }, InPlace: true,
		Reference: giftReference, Exactness: "0",
	}
}

// Validate checks the bounds.
func (o *GiftColorize) Validate() error {
	if err := checkBounds("hue", o.Hue, -360, 360); err != nil {
		return err
	}
	if err := checkBounds("saturation", o.Saturation, 0, 100); err != nil {
		return err
	}
	return checkBounds("percentage", o.Percentage, 0, 100)
}

// Infer keeps the description.
func (o *GiftColorize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantGift(in[0])
}

// Apply computes every pixel.
func (o *GiftColorize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	hue := float32(o.Hue) / 360
	hue -= float32(int(hue))
	if hue < 0 {
		hue++
	}
	f := giftHue{s: float32(o.Saturation) / 100, p: float32(o.Percentage) / 100}
	for i, t := range [3]float32{hue + 1/3.0, hue, hue - 1/3.0} {
		if t < 0 {
			t++
		}
		if t > 1 {
			t--
		}
		f.t[i] = t
	}
	return applyGiftColor(c, f, dst[0], src[0])
}

// giftHue mixes pixels with the colour of a hue.
type giftHue struct {
	t    [3]float32 // the hue relative to red, green and blue, 0 to 1
	s, p float32
}

func (h giftHue) of(r, g, b float32) (x, y, z float32) {
	l := float32((max(r, g, b) + min(r, g, b)) / 2)
	to := [3]float32{l, l, l}
	if h.s != 0 {
		q := l + h.s - float32(l*h.s)
		if l < 0.5 {
			q = float32(l * (1 + h.s))
		}
		p := float32(2*l) - q
		for i, t := range h.t {
			switch {
			case t < 1/6.0:
				to[i] = p + float32(float32((q-p)*6)*t)
			case t < 1/2.0:
				to[i] = q
			case t < 2/3.0:
				to[i] = p + float32(float32((q-p)*(2/3.0-t))*6)
			default:
				to[i] = p
			}
		}
	}
	return r + float32((to[0]-r)*h.p), g + float32((to[1]-g)*h.p), b + float32((to[2]-b)*h.p)
}
