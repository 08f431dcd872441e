package transforms

import (
	"encoding/json"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// AngleList is a list of angles in whole degrees. It may be empty.
type AngleList []int

// MarshalJSON returns a list, never null.
func (l AngleList) MarshalJSON() ([]byte, error) { return json.Marshal(append([]int{}, l...)) }

// UnmarshalJSON parses a list.
func (l *AngleList) UnmarshalJSON(b []byte) error {
	*l = nil
	var list []int
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	if len(list) > 0 {
		*l = list
	}
	return nil
}

// RandomWarp shears, rotates and scales an image about its centre and changes
// its aspect ratio, all at random. It takes the images and the interpolations
// of WarpAffine and uses its arithmetic. The sides of the output are those of
// the input times the scale, clamped to MinSize..MaxSize and truncated. If one
// of them would be 0, the output has the input's size.
//
// The shear s, the angle, the scale k and the aspect ratio r are drawn
// uniformly. Let a and b be the cosine and the sine of the angle, p = 2k/(1+r)
// and q = r*p. With each operation rounded to float32, the matrix is
//
//	[p*a - s*b*q   p*b + s*a*q]
//	[-b*q          a*q        ]
//
// and the point (w/2, h/2) of the input moves to the centre of the output.
//
// Reference: MXNet 1.9.1's ImageRecordIter: max_shear_ratio, max_rotate_angle,
// rotate, rotate_list, random_scale, aspect_ratio and img_size.
type RandomWarp struct {
	Shear    Range `json:"shear"`     // within -1000 to 1000; default 0 to 0
	MaxAngle int   `json:"max_angle"` // whole degrees from -MaxAngle to MaxAngle, 0 to 1,000,000; default 0
	// Angles, if not empty, holds the angles to choose from and replaces
	// MaxAngle. Whole degrees, -1,000,000 to 1,000,000. Default empty.
	Angles        AngleList     `json:"angles"`
	Scale         Range         `json:"scale"`         // 0.001 to 1000; default 1 to 1
	Aspect        Range         `json:"aspect"`        // width by height, 0.001 to 1000; default 1 to 1
	MinSize       float64       `json:"min_size"`      // smallest side of the output, 0 to 2^24; default 0
	MaxSize       float64       `json:"max_size"`      // largest side of the output, MinSize to 1e10; default 1e10
	Interpolation Interpolation `json:"interpolation"` // see WarpAffine; default bilinear
	Backend       Backend       `json:"backend"`       // opencv4
	Fill          []float64     `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel; default 255
}

//msgp:tuple RandomWarp

const (
	mxnetDrawReference = "MXNet 1.9.1 ImageRecordIter (distribution of the draws)"
	maxAngle           = 1_000_000
	maxWarpSize        = 1e10 // MXNet's own default
)

// NewRandomWarp returns the op that rotates by up to maxAngle degrees:
// bilinear, with a fill of 255.
func NewRandomWarp(maxAngle int) *RandomWarp {
	return &RandomWarp{
		MaxAngle: maxAngle, Scale: Range{1, 1}, Aspect: Range{1, 1}, MaxSize: maxWarpSize,
		Interpolation: Bilinear, Backend: OpenCV4, Fill: []float64{255},
	}
}

// Info describes the op.
func (*RandomWarp) Info() Info {
	return Info{
		Name: "random_warp", Version: 1, New: func() Op { return NewRandomWarp(10) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the ranges, the names and the fill.
func (o *RandomWarp) Validate() error {
	if err := o.Shear.check("shear", -1000, 1000); err != nil {
		return err
	}
	if o.MaxAngle < 0 || o.MaxAngle > maxAngle {
		return paramErr("max_angle is %d, want 0 to %d", o.MaxAngle, maxAngle)
	}
	for i, a := range o.Angles {
		if a < -maxAngle || a > maxAngle {
			return paramErr("angles[%d] is %d, want -%d to %d", i, a, maxAngle, maxAngle)
		}
	}
	if err := o.Scale.check("scale", 0.001, 1000); err != nil {
		return err
	}
	if err := o.Aspect.check("aspect", 0.001, 1000); err != nil {
		return err
	}
	if !(o.MinSize >= 0 && o.MinSize <= maxSide) {
		return paramErr("min_size is %v, want 0 to %d", o.MinSize, maxSide)
	}
	if !(o.MaxSize >= o.MinSize && o.MaxSize <= maxWarpSize) {
		return paramErr("max_size is %v, want %v to %v", o.MaxSize, o.MinSize, float64(maxWarpSize))
	}
	if err := checkWarp(o.Interpolation, o.Backend); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer describes the output. Its size is known if all scales lead to the same
// size.
func (o *RandomWarp) Infer(dst, in []tensor.Desc) error {
	if err := wantWarped(in[0], o.Fill); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	if h == tensor.Unknown || w == tensor.Unknown {
		return nil
	}
	h0, w0 := o.size(float32(o.Scale.Min), h, w)
	h1, w1 := o.size(float32(o.Scale.Max), h, w)
	if int(h0) != int(h1) || int(w0) != int(w1) {
		return nil
	}
	if h0 < 1 || w0 < 1 {
		h0, w0 = float32(h), float32(w)
	}
	if h0 > maxSide || w0 > maxSide {
		return inputErr("%v would become %v x %v, want sides of at most %d", in[0], h0, w0, maxSide)
	}
	dst[0] = in[0].WithSize(int(h0), int(w0))
	return inferred(dst[0])
}

// size returns the sides of the output for an image of h x w, before
// truncation.
func (o *RandomWarp) size(scale float32, h, w int) (float32, float32) {
	side := func(n int) float32 {
		return max(float32(o.MinSize), min(float32(o.MaxSize), float32(scale*float32(n))))
	}
	return side(h), side(w)
}

// Apply returns ErrNotDrawn.
func (o *RandomWarp) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a WarpAffine.
func (o *RandomWarp) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	s := float32(o.Shear.draw(&d.Stream))
	var angle int
	if len(o.Angles) > 0 {
		angle = o.Angles[d.IntN(len(o.Angles))]
	} else {
		angle = d.IntN(2*o.MaxAngle+1) - o.MaxAngle
	}
	k, r := float32(o.Scale.draw(&d.Stream)), float32(o.Aspect.draw(&d.Stream))
	a, b := exactmath.CosSinDegrees(angle)
	p := float32(2*k) / (1 + r)
	q := float32(r * p)
	nh, nw := o.size(k, h, w)
	m0, m1 := float32(p*a)-float32(float32(s*b)*q), float32(p*b)+float32(float32(s*a)*q)
	m3, m4 := float32(-b*q), float32(a*q)
	m2 := float32((nw - (float32(m0*float32(w)) + float32(m1*float32(h)))) / 2)
	m5 := float32((nh - (float32(m3*float32(w)) + float32(m4*float32(h)))) / 2)
	if nh > maxSide || nw > maxSide {
		return inputErr("%v would become %v x %v, want sides of at most %d", d.In[0], nh, nw, maxSide)
	}
	if nh < 1 || nw < 1 { // cv2.warpAffine replaces an empty size by the input's
		nh, nw = float32(h), float32(w)
	}
	return emitOp(d, WarpAffine{
		Matrix: AffineMatrix{float64(m0), float64(m1), float64(m2), float64(m3), float64(m4), float64(m5)},
		Height: int(nh), Width: int(nw),
		Interpolation: o.Interpolation, Backend: o.Backend, Fill: o.Fill,
	})
}
