package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// Affine shears, rotates, scales and moves an image about a point, in this
// order. It takes a uint8 image of any number of channels (pillow, opencv4: one
// to four), HWC or CHW, and keeps layout, channels and size. Pixels outside the
// input are Fill.
//
// Let a be Angle, t the tangent of ShearX, s ShearY, and k Scale. A pixel at a
// distance (x, y) from the centre moves to the distance k*(A*x + B*y) +
// TranslateX, k*(C*x + D*y) + TranslateY with
//
//	A = cos(a-s)/cos(s)   B = -(A*t + sin(a))
//	C = sin(a-s)/cos(s)   D = cos(a) - C*t
//
// The inverse of this map is computed in float64. Pixels are computed as by
// Rotate.
//
// Backend opencv4 is WarpAffine as MindSpore calls it. The map is computed in
// float32, with the sine, cosine and tangent of glibc, and the centre is that
// of the image's pixels: half a pixel less than with the other backends. Angles
// are up to 3000 degrees. MindSpore's translation is a fraction of the sides.
//
// Reference: affine of torchvision 0.29.2 on Pillow images with Pillow 13.0.0,
// and on tensors with torch 2.15.0; Affine of MindSpore 2.10.0 with OpenCV
// 4.11.0; with glibc 2.36. With pillow and torch, the sines, cosines and
// tangents of infer-prep are correctly rounded. Of random angles, 0.3% have one
// whose last bit differs. With backend pillow, a position that is a whole
// number of pixels in exact arithmetic can then be truncated to another value.
type Affine struct {
	Angle         float64       `json:"angle"`         // degrees clockwise, -1,000,000 to 1,000,000
	TranslateX    float64       `json:"translate_x"`   // pixels to the right, -2^24 to 2^24
	TranslateY    float64       `json:"translate_y"`   // pixels down, -2^24 to 2^24
	Scale         float64       `json:"scale"`         // factor of both sides, 0.000001 to 1,000,000; default 1
	ShearX        float64       `json:"shear_x"`       // degrees, -1,000,000 to 1,000,000
	ShearY        float64       `json:"shear_y"`       // degrees, -1,000,000 to 1,000,000
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear, bicubic (pillow, opencv4), lanczos or area (opencv4; area is bilinear); default nearest
	Backend       Backend       `json:"backend"`       // pillow, torch or opencv4; default pillow
	Center        NumberList    `json:"center"`        // x and y in pixels from the top left corner, -2^24 to 2^24; default empty, which is the image's centre
	Fill          NumberList    `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel, integers of 0 to 255; default empty, which is 0
}

//msgp:tuple Affine
//sheet:affine {"angle": 15, "shear_x": 20, "scale": 0.8, "interpolation": "bilinear"}

// NewAffine returns the op that rotates alone: nearest, Pillow, with a fill of
// 0.
func NewAffine(angle float64) *Affine {
	return &Affine{Angle: angle, Scale: 1, Interpolation: Nearest, Backend: Pillow}
}

const (
	maxAffineScale = 1e6
	maxAngle32     = 3000 // the sum of two is within exactmath.Sin32
)

// maxAngle returns the largest angle in degrees.
func (o *Affine) maxAngle() float64 {
	if o.Backend == OpenCV4 {
		return maxAngle32
	}
	return maxAngle
}

// Info describes the op.
func (*Affine) Info() Info {
	return Info{
		Name: "affine", Version: 1, New: func() Op { return NewAffine(15) },
		Reference: "torchvision 0.29.2 affine, with Pillow 13.0.0 and on tensors; MindSpore 2.10.0 Affine", Exactness: movedExactness,
	}
}

// Validate checks the numbers and the names.
func (o *Affine) Validate() error {
	turn := o.maxAngle()
	for _, v := range [5]struct {
		name    string
		v, most float64
	}{
		{"angle", o.Angle, turn}, {"translate_x", o.TranslateX, maxSide}, {"translate_y", o.TranslateY, maxSide},
		{"shear_x", o.ShearX, turn}, {"shear_y", o.ShearY, turn},
	} {
		if err := checkWithin(v.name, v.v, v.most); err != nil {
			return err
		}
	}
	if err := checkBounds("scale", o.Scale, 1/maxAffineScale, maxAffineScale); err != nil {
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

// Infer keeps the description.
func (o *Affine) Infer(dst, in []tensor.Desc) error {
	if err := wantMoved(in[0], o.Backend, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0]
	return nil
}

// inverse returns the matrix from the output to the input, in torchvision's
// order of operations.
func (o *Affine) inverse(cx, cy float64) [6]float64 {
	rot, sx, sy := radians(o.Angle), radians(o.ShearX), radians(o.ShearY)
	t := exactmath.Tan(sx)
	_, cosY := exactmath.SinCos(sy)
	sin, cos := exactmath.SinCos(rot - sy)
	a, c := cos/cosY, sin/cosY
	sin, cos = exactmath.SinCos(rot)
	b, d := -(float64(a*t) + sin), cos-float64(c*t)
	m := [6]float64{d / o.Scale, -b / o.Scale, 0, -c / o.Scale, a / o.Scale, 0}
	x, y := cx+o.TranslateX, cy+o.TranslateY
	m[2] = (cx - float64(m[0]*x)) - float64(m[1]*y)
	m[5] = (cy - float64(m[3]*x)) - float64(m[4]*y)
	return m
}

// opencv returns MindSpore's matrix from the input to the output, which is
// float32.
func (o *Affine) opencv(h, w int) (m [6]float64) {
	rad := func(degrees float64) float32 {
		return float32(float64(math.Pi*float64(float32(degrees))) / 180)
	}
	d, sx, sy := rad(o.Angle), rad(o.ShearX), rad(-o.ShearY)
	x, y := centerOf(o.Center, w-1, h-1)
	cx, cy := float32(x), float32(y)
	k, t, cosY := float32(o.Scale), exactmath.Tan32(sx), exactmath.Cos32(sy)
	s, c := exactmath.Sin32(d+sy), exactmath.Cos32(d+sy)
	m0, m1 := float32(k*c)/cosY, float32(k*(float32(-c*t)/cosY-exactmath.Sin32(d)))
	m3, m4 := float32(k*s)/cosY, float32(k*(float32(-s*t)/cosY+exactmath.Cos32(d)))
	m2 := (float32((1-m0)*cx) - float32(m1*cy)) + float32(o.TranslateX)
	m5 := (float32((1-m4)*cy) - float32(m3*cx)) + float32(o.TranslateY)
	return [6]float64{float64(m0), float64(m1), float64(m2), float64(m3), float64(m4), float64(m5)}
}

// Apply transforms.
func (o *Affine) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	return moveAffine(c, o.Backend, o.Interpolation, o.Fill, o.matrix(s.Height(), s.Width()), dst[0], s)
}

// matrix returns the matrix for moveAffine.
func (o *Affine) matrix(h, w int) [6]float64 {
	if o.Backend == OpenCV4 {
		return o.opencv(h, w)
	}
	cx, cy := centerOf(o.Center, w, h)
	if o.Backend == Torch {
		cx, cy = cx-float64(float64(w)/2), cy-float64(float64(h)/2)
	}
	return o.inverse(cx, cy)
}

// forward returns the matrix from the input to the output, in torchvision's
// order of operations.
func (o *Affine) forward(cx, cy float64) (m AffineMatrix) {
	rot, sx, sy := radians(o.Angle), radians(o.ShearX), radians(o.ShearY)
	t := exactmath.Tan(sx)
	_, cosY := exactmath.SinCos(sy)
	sin, cos := exactmath.SinCos(rot - sy)
	a, c := cos/cosY, sin/cosY
	sin, cos = exactmath.SinCos(rot)
	b, d := -(float64(a*t) + sin), cos-float64(c*t)
	m = AffineMatrix{float64(a * o.Scale), float64(b * o.Scale), 0, float64(c * o.Scale), float64(d * o.Scale), 0}
	m[2] = ((cx + o.TranslateX) - float64(m[0]*cx)) - float64(m[1]*cy)
	m[5] = ((cy + o.TranslateY) - float64(m[3]*cx)) - float64(m[4]*cy)
	return m
}

// Move transforms a column, a mask with nearest and 0. Boxes and points move as
// in torchvision, for any interpolation. Backend opencv4 moves none.
func (o *Affine) Move(d *Draw, r Role, from, to tensor.Desc) error {
	if r.Kind <= RoleMask {
		c := copyOp[Affine](d, o)
		if r.Kind == RoleMask {
			c.Interpolation, c.Backend, c.Fill = Nearest, backendOfMask(o.Backend, d.In[0]), nil
		}
		return d.Emit(c)
	}
	if o.Backend == OpenCV4 {
		return cannotMove(o, r, movedOpenCV)
	}
	if r.Format == CoordRelative {
		return cannotMove(o, r, movedRelative)
	}
	c := NewOp[AffineCoords](d)
	*c = AffineCoords{Format: r.Format, Height: to.Height(), Width: to.Width(), Clamping: r.Clamping}
	c.Matrix = o.forward(centerOf(o.Center, from.Width(), from.Height()))
	return d.Emit(c)
}
