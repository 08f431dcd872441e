package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Quad is four points in pixels: x and y of each, in the order top left, top
// right, bottom right, bottom left.
type Quad [8]float64

// UnmarshalJSON parses a list of eight numbers.
func (q *Quad) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, q[:]) }

// Perspective moves the pixels of an image by the perspective map that takes
// four points to four others. It takes a uint8 image of any number of channels
// (pillow, opencv4: one to four), HWC or CHW, and keeps layout, channels and
// size. Pixels outside the input are Fill.
//
// The eight coefficients c of the inverse map, from End to Start, are computed
// from the points and rounded to float32. The centre (u, v) of a pixel of the
// output, which is 0.5 for the first one, samples the input at
//
//	x = (c0*u + c1*v + c2) / (c6*u + c7*v + 1)
//	y = (c3*u + c4*v + c5) / (c6*u + c7*v + 1)
//
// Coefficients replaces the points, which must then be 0, and is not rounded.
// Points that no map or several maps connect are an ErrParam.
//
// With backend pillow, coordinates and pixels are computed in float64, and
// values are truncated to bytes. Nearest takes the pixel that contains the
// position. Everything else is as in Rotate.
//
// Backend opencv4 computes the map from Start to End and its inverse in
// float64, as getPerspectiveTransform and warpPerspective do. The centre of the
// first pixel is 0. Positions are rounded half to even to 1/32 of a pixel, and
// pixels are computed as by WarpAffine.
//
// Reference: OpenCV 4.11.0 without IPP, and Perspective of MindSpore 2.10.0;
// perspective of torchvision 0.29.2 on Pillow images with Pillow 13.0.0, and on
// tensors with torch 2.15.0. torchvision solves for the coefficients with the
// least squares of LAPACK. Over 8,000 random sets of points, all coefficients
// are equal except those that are 0 in exact arithmetic. LAPACK returns about
// 1e-16 for some of these. Random points lead to the same pixels. Points that
// move by whole pixels or not at all do not with backend pillow: torchvision's
// bilinear then truncates half of the values to 1 less.
type Perspective struct {
	Start         Quad          `json:"start"`         // points of the input, -2^24 to 2^24
	End           Quad          `json:"end"`           // where they are in the output, -2^24 to 2^24
	Coefficients  NumberList    `json:"coefficients"`  // the eight coefficients of the inverse map, in place of the points; default empty
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear, bicubic (pillow, opencv4), lanczos or area (opencv4; area is bilinear); default bilinear
	Backend       Backend       `json:"backend"`       // pillow, torch or opencv4; default pillow
	Fill          NumberList    `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel, integers of 0 to 255; default empty, which is 0
}

//msgp:tuple Quad Perspective
//sheet:perspective {"start": [0, 0, 111, 0, 111, 83, 0, 83], "end": [20, 10, 100, 0, 111, 83, 0, 70], "interpolation": "bilinear"}

// NewPerspective returns the op that moves the points start of the input to the
// points end: bilinear, Pillow, with a fill of 0.
func NewPerspective(start, end Quad) *Perspective {
	return &Perspective{Start: start, End: end, Interpolation: Bilinear, Backend: Pillow}
}

// Info describes the op.
func (*Perspective) Info() Info {
	return Info{
		Name: "perspective", Version: 1,
		New: func() Op {
			return NewPerspective(Quad{0, 0, 223, 0, 223, 223, 0, 223}, Quad{20, 10, 200, 20, 210, 190, 10, 220})
		},
		Reference: "torchvision 0.29.2 perspective, with Pillow 13.0.0 and on tensors; OpenCV 4.11.0 warpPerspective", Exactness: movedExactness,
	}
}

// Validate checks the points and the names.
func (o *Perspective) Validate() error {
	for i := range o.Start {
		if err := checkWithin("start", o.Start[i], maxSide); err != nil {
			return err
		}
		if err := checkWithin("end", o.End[i], maxSide); err != nil {
			return err
		}
	}
	switch n := len(o.Coefficients); {
	case n == 0:
		if !o.connected() {
			return paramErr("start %v and end %v, want points of which no three are on a line", o.Start[:], o.End[:])
		}
	case n != 8:
		return paramErr("coefficients has %d values, want none or 8", n)
	case o.Start != Quad{} || o.End != Quad{}:
		return paramErr("start is %v and end is %v with coefficients, want 0", o.Start[:], o.End[:])
	}
	for i, v := range o.Coefficients {
		if f := float64(float32(v)); math.IsNaN(f) || math.IsInf(f, 0) {
			return paramErr("coefficients[%d] is %v, want a finite number in the range of float32", i, v)
		}
	}
	if err := checkMove(o.Backend, o.Interpolation); err != nil {
		return err
	}
	return checkFill(o.Fill)
}

// connected reports whether one map takes the points to the others.
func (o *Perspective) connected() bool {
	if o.Backend == OpenCV4 {
		if _, ok := kernel.CVPerspective((*[8]float64)(&o.Start), (*[8]float64)(&o.End)); !ok {
			return false
		}
	}
	_, ok := exactmath.Homography((*[8]float64)(&o.End), (*[8]float64)(&o.Start))
	return ok
}

// Infer keeps the description.
func (o *Perspective) Infer(dst, in []tensor.Desc) error {
	if err := wantMoved(in[0], o.Backend, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0]
	return nil
}

// inverse returns the coefficients from the output to the input.
func (o *Perspective) inverse() (c [8]float64) {
	if len(o.Coefficients) > 0 {
		copy(c[:], o.Coefficients)
		return c
	}
	c, _ = exactmath.Homography((*[8]float64)(&o.End), (*[8]float64)(&o.Start))
	for i, v := range c {
		c[i] = float64(float32(v))
	}
	return c
}

// Apply transforms.
func (o *Perspective) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if o.Backend == OpenCV4 {
		m, _ := kernel.CVPerspective((*[8]float64)(&o.Start), (*[8]float64)(&o.End))
		if m = kernel.CVInvert(&m); len(o.Coefficients) > 0 {
			copy(m[:], o.Coefficients)
			m[8] = 1
		}
		warpPerspective(c, o.Interpolation, movedFill(c, s.Desc, o.Fill), &m, dst[0], s)
		return nil
	}
	m := o.inverse()
	if o.Backend == Torch {
		w, h := s.Width(), s.Height()
		t := torchMap{
			theta:   kernel.TorchTheta((*[6]float64)(m[:6]), w, h),
			divisor: [2]float32{float32(m[6]), float32(m[7])}, projective: true,
		}
		t.apply(c, o.Interpolation, o.Fill, dst[0], s)
		return nil
	}
	p := pillowMap{perspective: m, projective: true}
	return p.apply(c, o.Interpolation, movedFill(c, s.Desc, o.Fill), dst[0], s)
}

// Move transforms a column, a mask with nearest and 0. Boxes and points move as
// in torchvision, for any interpolation. Backend opencv4 moves none.
func (o *Perspective) Move(d *Draw, r Role, _, to tensor.Desc) error {
	if r.Kind <= RoleMask {
		c := copyOp[Perspective](d, o)
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
	p := o.inverse()
	det := float64(p[0]*p[4]) - float64(p[1]*p[3])
	if det == 0 {
		return cannotMove(o, r, "its map has no inverse")
	}
	c := NewOp[PerspectiveCoords](d)
	*c = PerspectiveCoords{Format: r.Format, Height: to.Height(), Width: to.Width(), Clamping: r.Clamping}
	c.Coefficients = PerspectiveCoefficients{
		(p[4] - float64(p[5]*p[7])) / det,
		(-p[1] + float64(p[2]*p[7])) / det,
		(float64(p[1]*p[5]) - float64(p[2]*p[4])) / det,
		(-p[3] + float64(p[5]*p[6])) / det,
		(p[0] - float64(p[2]*p[6])) / det,
		(float64(-p[0]*p[5]) + float64(p[2]*p[3])) / det,
		(float64(-p[4]*p[6]) + float64(p[3]*p[7])) / det,
		(float64(-p[0]*p[7]) + float64(p[1]*p[6])) / det,
	}
	return d.Emit(c)
}
