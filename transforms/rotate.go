package transforms

import (
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Rotate rotates an image counter-clockwise about a point. It takes a uint8
// image of one to four channels, HWC or CHW, and keeps layout and channels.
// Pixels outside the input are Fill. The output has the input's size. With
// Expand it has the size of the rectangle of whole pixels around the rotated
// image, and shows all of it if Center is empty.
//
// With backend pillow, an angle of 0, 90, 180 or 270 degrees, modulo 360, moves
// whole pixels if Center is empty. The angles 90 and 270 do so only with Expand
// or for a square image. For all other angles, sine and cosine are rounded to
// 15 decimal places. Nearest uses coordinates of 16 fractional bits. Bilinear
// and bicubic (a = -1) compute in float64 and truncate. They repeat the border
// of the image, so that nothing mixes with Fill. Two and four channels are LA
// and RGBA. Bilinear and bicubic mix their colours multiplied by alpha, and
// Fill is then such a colour too.
//
// Reference: Image.rotate of Pillow 13.0.0, with sines and cosines of glibc
// 2.36. Those of infer-prep are correctly rounded. Of random angles, 0.02% have
// a sine or a cosine that differs in the 15th decimal place.
type Rotate struct {
	Angle         float64       `json:"angle"`         // degrees counter-clockwise, -1,000,000 to 1,000,000
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear or bicubic; default nearest
	Backend       Backend       `json:"backend"`       // pillow
	Expand        bool          `json:"expand"`        // enlarge the output to hold the rotated image; default false
	Center        NumberList    `json:"center"`        // x and y in pixels from the top left corner, -2^24 to 2^24; default empty, which is the image's centre
	Fill          NumberList    `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel, integers of 0 to 255; default empty, which is 0
}

//msgp:tuple Rotate

func init() {
	Register(Info{
		Name: "rotate", Version: 1, New: func() Op { return NewRotate(15) },
		Reference: "Pillow 13.0.0 Image.rotate", Exactness: "0",
	})
}

// NewRotate returns the op: nearest, Pillow, with the size of the input and a
// fill of 0.
func NewRotate(angle float64) *Rotate {
	return &Rotate{Angle: angle, Interpolation: Nearest, Backend: Pillow}
}

// Validate checks the numbers and the names.
func (o *Rotate) Validate() error {
	if err := checkWithin("angle", o.Angle, maxAngle); err != nil {
		return err
	}
	if err := checkMove(o.Backend, o.Interpolation); err != nil {
		return err
	}
	if err := checkCenter(o.Center); err != nil {
		return err
	}
	return checkFill(o.Fill)
}

// Infer sets the output size.
func (o *Rotate) Infer(dst, in []tensor.Desc) error {
	if err := wantMoved(in[0], o.Backend, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0]
	if !o.Expand {
		return nil
	}
	h, w := in[0].Height(), in[0].Width()
	if h == tensor.Unknown || w == tensor.Unknown {
		dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
		return nil
	}
	_, _, h, w = o.pillow(h, w)
	if h > maxSide || w > maxSide {
		return inputErr("%v rotated is %d x %d (height x width), want sides of at most %d", in[0], h, w, maxSide)
	}
	dst[0] = in[0].WithSize(h, w)
	return inferred(dst[0])
}

// pillow returns the rotation by a multiple of 90 degrees, or the matrix if
// turns is negative, and the size of the output.
func (o *Rotate) pillow(h, w int) (turns int, m [6]float64, oh, ow int) {
	angle := math.Mod(o.Angle, 360)
	if angle < 0 {
		angle += 360
	}
	if len(o.Center) == 0 {
		switch angle {
		case 0:
			return 0, m, h, w
		case 180:
			return 2, m, h, w
		case 90, 270:
			if o.Expand || w == h {
				return int(angle) / 90, m, w, h
			}
		}
	}
	cx, cy := float64(w)/2, float64(h)/2
	if len(o.Center) > 0 {
		cx, cy = o.Center[0], o.Center[1]
	}
	s, c := kernel.SinCos(-radians(angle))
	m = [6]float64{round15(c), round15(s), 0, round15(-s), round15(c), 0}
	at := func(x, y float64) (float64, float64) {
		return (float64(m[0]*x) + float64(m[1]*y)) + m[2], (float64(m[3]*x) + float64(m[4]*y)) + m[5]
	}
	tx, ty := at(-cx, -cy)
	m[2], m[5] = tx+cx, ty+cy
	if !o.Expand {
		return -1, m, h, w
	}
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range [4][2]float64{{0, 0}, {float64(w), 0}, {float64(w), float64(h)}, {0, float64(h)}} {
		x, y := at(p[0], p[1])
		x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
	}
	ow, oh = int(math.Ceil(x1)-math.Floor(x0)), int(math.Ceil(y1)-math.Floor(y0))
	tx, ty = at(-float64(ow-w)/2, -float64(oh-h)/2)
	m[2], m[5] = tx, ty
	return -1, m, oh, ow
}

// round15 rounds to 15 decimal places, to even in the decimal digits.
func round15(v float64) float64 {
	var b [32]byte
	r, _ := strconv.ParseFloat(string(strconv.AppendFloat(b[:0], v, 'f', 15, 64)), 64)
	return r
}

// Apply rotates.
func (o *Rotate) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	turns, m, _, _ := o.pillow(s.Height(), s.Width())
	if turns >= 0 {
		turn(dst[0], s, turns)
		return nil
	}
	p := pillowMap{affine: m}
	return p.apply(c, o.Interpolation, movedFill(c, s.Desc, o.Fill), dst[0], s)
}
