package transforms

import (
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// Rotate rotates an image counter-clockwise about a point. It takes a uint8
// image of any number of channels (pillow, opencv4: one to four), HWC or CHW,
// and keeps layout and channels. Pixels outside the input are Fill. The output
// has the input's size. With Expand it has the size of the rectangle of whole
// pixels around the rotated image, and shows all of it if Center is empty.
//
// An angle of 0, 90, 180 or 270 degrees, modulo 360, moves whole pixels if
// Center is empty. The angles 90 and 270 do so only with Expand or for a square
// image.
//
// With backend pillow, sine and cosine are rounded to 15 decimal places.
// Nearest uses coordinates of 16 fractional bits. Bilinear and bicubic (a = -1)
// compute in float64 and truncate. They repeat the border of the image, so that
// nothing mixes with Fill. Two and four channels are LA and RGBA. Bilinear and
// bicubic mix their colours multiplied by alpha, and Fill is then such a colour
// too.
//
// Backend torch computes as torchvision does for uint8 tensors, with nearest or
// bilinear. Positions and values are float32, and values are rounded half to
// even. Bilinear mixes the border of the image with Fill, whose weight there is
// 1-w^2 for a pixel with the weight w inside the image. With an empty Fill it
// is 1-w. The bytes are those of x86-64 with fused multiply-add, except in
// torch's matrix products: MKL does not fuse there on AMD's CPUs, or with
// MKL_CBWR=COMPATIBLE. On Intel's CPUs, 0.01% of torch's bilinear values of
// noise differ by 1, and one nearest pixel in 100,000.
//
// Backend opencv4 is WarpAffine with the matrix of getRotationMatrix2D. The
// centre of the image is half a pixel less than with the other backends, that
// of its pixels. No angle has a path of its own. Expand moves the centre of the
// rotated image to that of the output, whose sides are rounded half to even.
// MindSpore passes its angle modulo 360 in float32, and reverses the fill.
//
// Reference: Image.rotate of Pillow 13.0.0; rotate of torchvision 0.29.2 and
// torch 2.15.0; OpenCV 4.11.0 without IPP, and Rotate of MindSpore 2.10.0; with
// sines and cosines of glibc 2.36. Those of infer-prep are correctly rounded.
// Of random angles, 0.02% have a sine or a cosine that differs in the 15th
// decimal place.
type Rotate struct {
	Angle         float64       `json:"angle"`         // degrees counter-clockwise, -1,000,000 to 1,000,000
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear, bicubic (pillow, opencv4), lanczos or area (opencv4; area is bilinear); default nearest
	Backend       Backend       `json:"backend"`       // pillow, torch or opencv4; default pillow
	Expand        bool          `json:"expand"`        // enlarge the output to hold the rotated image; default false
	Center        NumberList    `json:"center"`        // x and y in pixels from the top left corner, -2^24 to 2^24; default empty, which is the image's centre
	Fill          NumberList    `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel, integers of 0 to 255; default empty, which is 0
}

//msgp:tuple Rotate
//sheet:rotate {"angle": 20, "interpolation": "bilinear"}

// NewRotate returns the op: nearest, Pillow, with the size of the input and a
// fill of 0.
func NewRotate(angle float64) *Rotate {
	return &Rotate{Angle: angle, Interpolation: Nearest, Backend: Pillow}
}

// Info describes the op.
func (*Rotate) Info() Info {
	return Info{
		Name: "rotate", Version: 1, New: func() Op { return NewRotate(15) },
		Reference: "Pillow 13.0.0 Image.rotate; torchvision 0.29.2 rotate; OpenCV 4.11.0; MindSpore 2.10.0 Rotate", Exactness: movedExactness,
	}
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
	_, _, h, w = o.plan(h, w)
	if h == 0 || w == 0 || h > maxSide || w > maxSide {
		return inputErr("%v rotated is %d x %d (height x width), want sides of 1 to %d", in[0], h, w, maxSide)
	}
	dst[0] = in[0].WithSize(h, w)
	return inferred(dst[0])
}

// plan returns the rotation by a multiple of 90 degrees, or the matrix if turns
// is negative, and the size of the output.
func (o *Rotate) plan(h, w int) (turns int, m [6]float64, oh, ow int) {
	if o.Backend == OpenCV4 {
		m, oh, ow = o.opencv(h, w)
		return -1, m, oh, ow
	}
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
	cx, cy := centerOf(o.Center, w, h)
	if o.Backend == Torch {
		a := Affine{Angle: -angle, Scale: 1}
		m = a.inverse(cx-float64(float64(w)/2), cy-float64(float64(h)/2))
		oh, ow = h, w
		if o.Expand {
			oh, ow = torchExpanded(&m, h, w)
		}
		return -1, m, oh, ow
	}
	m, oh, ow = o.pillow(angle, cx, cy, h, w)
	return -1, m, oh, ow
}

// pillow returns the matrix and the size of the output.
func (o *Rotate) pillow(angle, cx, cy float64, h, w int) (m [6]float64, oh, ow int) {
	s, c := exactmath.SinCos(-radians(angle))
	m = [6]float64{round15(c), round15(s), 0, round15(-s), round15(c), 0}
	at := func(x, y float64) (float64, float64) {
		return (float64(m[0]*x) + float64(m[1]*y)) + m[2], (float64(m[3]*x) + float64(m[4]*y)) + m[5]
	}
	tx, ty := at(-cx, -cy)
	m[2], m[5] = tx+cx, ty+cy
	if !o.Expand {
		return m, h, w
	}
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range [4][2]float64{{0, 0}, {float64(w), 0}, {float64(w), float64(h)}, {0, float64(h)}} {
		x, y := at(p[0], p[1])
		x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
	}
	ow, oh = int(math.Ceil(x1)-math.Floor(x0)), int(math.Ceil(y1)-math.Floor(y0))
	tx, ty = at(float64(-float64(ow-w)/2), float64(-float64(oh-h)/2))
	m[2], m[5] = tx, ty
	return m, oh, ow
}

// opencv returns the matrix from the input to the output and the size of the
// output.
func (o *Rotate) opencv(h, w int) (m [6]float64, oh, ow int) {
	x, y := centerOf(o.Center, w-1, h-1)
	cx, cy := float32(x), float32(y)
	x, y = float64(cx), float64(cy)
	s, c := exactmath.SinCos(radians(o.Angle))
	m = [6]float64{
		c, s, float64((1-c)*x) - float64(s*y),
		-s, c, float64(s*x) + float64((1-c)*y),
	}
	if !o.Expand {
		return m, h, w
	}
	// The rectangle around the corners, in float32.
	s, c = exactmath.SinCos(float64(float64(float32(o.Angle))*math.Pi) / 180)
	a, b := float32(float32(s)*0.5), float32(float32(c)*0.5)
	fw, fh := float32(w), float32(h)
	px := [4]float32{cx - float32(a*fh) - float32(b*fw), cx + float32(a*fh) - float32(b*fw)}
	py := [4]float32{cy + float32(b*fh) - float32(a*fw), cy - float32(b*fh) - float32(a*fw)}
	for i := range 2 {
		px[i+2], py[i+2] = float32(2*cx)-px[i], float32(2*cy)-py[i]
	}
	bw := max(px[0], px[1], px[2], px[3]) - min(px[0], px[1], px[2], px[3])
	bh := max(py[0], py[1], py[2], py[3]) - min(py[0], py[1], py[2], py[3])
	m[2] += float64(float64(bw)/2) - float64(float64(w)/2)
	m[5] += float64(float64(bh)/2) - float64(float64(h)/2)
	return m, int(math.RoundToEven(float64(bh))), int(math.RoundToEven(float64(bw)))
}

// torchExpanded returns the size of the output that holds the rotated image, in
// float32. Corners are truncated to 4 decimal places before they are rounded to
// whole pixels.
func torchExpanded(m *[6]float64, h, w int) (oh, ow int) {
	hw, hh := float32(float64(w)*0.5), float32(float64(h)*0.5)
	side := func(m []float64, half float32) int {
		a, b, c := float32(m[0]), float32(m[1]), float32(m[2])
		least, most := float32(math.Inf(1)), float32(math.Inf(-1))
		for _, p := range [4][2]float32{{-hw, -hh}, {-hw, hh}, {hw, hh}, {hw, -hh}} {
			v := (float32(p[0]*a) + float32(p[1]*b)) + c
			least, most = min(least, v), max(most, v)
		}
		places := func(v float32) float64 {
			return float64(float32(float32(math.Trunc(float64(float32((v+half)*10000)))) * 1e-4))
		}
		return int(math.Ceil(places(most)) - math.Floor(places(least)))
	}
	return side(m[3:], hh), side(m[:3], hw)
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
	turns, m, _, _ := o.plan(s.Height(), s.Width())
	if turns >= 0 {
		rotateQuarters(dst[0], s, turns)
		return nil
	}
	return moveAffine(c, o.Backend, o.Interpolation, o.Fill, m, dst[0], s)
}

// Move rotates a column, a mask with nearest and 0. Boxes and points move as in
// torchvision, for any interpolation, by the matrix of backend torch about
// Center. With Expand they are shifted by the least corner of the moved image,
// and clamped to the size of the image that o returns; torchvision clamps them
// to a size of their own, which differs from its image's by up to 1. Backend
// opencv4 moves none.
func (o *Rotate) Move(d *Draw, r Role, from, to tensor.Desc) error {
	if r.Kind <= RoleMask {
		c := copyOp[Rotate](d, o)
		if r.Kind == RoleMask {
			c.Interpolation, c.Backend, c.Fill = Nearest, backendOfMask(o.Backend, d.In[0]), nil
		}
		if err := d.Emit(c); err != nil {
			return err
		}
		if !sameSize(d.In[0], to) {
			return cannotMove(o, r, "backend torch, which its channels need, has another size")
		}
		return nil
	}
	if o.Backend == OpenCV4 {
		return cannotMove(o, r, movedOpenCV)
	}
	if r.Format == CoordRelative {
		return cannotMove(o, r, movedRelative)
	}
	w, h := from.Width(), from.Height()
	cx, cy := centerOf(o.Center, w, h)
	c := NewOp[AffineCoords](d)
	*c = AffineCoords{Format: r.Format, Height: to.Height(), Width: to.Width(), Clamping: r.Clamping}
	a := Affine{Angle: -o.Angle, Scale: 1}
	c.Matrix = a.forward(cx, cy)
	if o.Expand {
		corners := [8]float32{0, 0, 0, float32(h), float32(w), float32(h), float32(w), 0}
		least := [2]float32{}
		for i := 0; i < 8; i += 2 {
			for k := range least {
				m := c.Matrix[3*k:][:3]
				v := float32(corners[i]*float32(m[0])) + float32(corners[i+1]*float32(m[1])) + float32(m[2])
				if i == 0 || v < least[k] {
					least[k] = v
				}
			}
		}
		c.ShiftX, c.ShiftY = float64(least[0]), float64(least[1])
	}
	return d.Emit(c)
}

const movedOpenCV = "backend opencv4 has another centre than torchvision's boxes"

// movedRelative is the reason for relative boxes.
const movedRelative = "only windows, pads, flips and resizes move boxes of format relative"

// backendOfMask returns the backend that moves a mask by nearest: torch if the
// others do not support its channels.
func backendOfMask(b Backend, mask tensor.Desc) Backend {
	if mask.Channels() > 4 {
		return Torch
	}
	return b
}
