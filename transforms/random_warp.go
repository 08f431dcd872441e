package transforms

import (
	"encoding/json"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AngleList is a list of angles in whole degrees, which may be empty.
type AngleList []int

// MarshalJSON writes a list.
func (l AngleList) MarshalJSON() ([]byte, error) { return json.Marshal(append([]int{}, l...)) }

// UnmarshalJSON reads a list.
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

// RandomWarp shears, rotates and scales an image and changes its aspect, all at random and about its middle. Images, interpolations
// and arithmetic are those of WarpAffine. The output's sides are the input's times the scale, within MinSize and MaxSize and
// without a fraction; where one of them would be 0, both are the input's.
//
// Four numbers are drawn: the shear, the angle, the scale k and the aspect r, of each all as likely. In float32, each operation
// rounded, with a and b the angle's cosine and sine, p = 2k/(1+r) and q = r*p, the matrix is
//
//	[p*a - s*b*q   p*b + s*a*q]
//	[-b*q          a*q        ]
//
// and (w/2, h/2) of the input comes to the middle of the output.
//
// Reference: MXNet 1.9.1's ImageRecordIter: max_shear_ratio, max_rotate_angle, rotate, rotate_list, random_scale, aspect_ratio
// and img_size.
type RandomWarp struct {
	Shear    Range `json:"shear"`     // within -1000 to 1000, usually 0 to 0
	MaxAngle int   `json:"max_angle"` // whole degrees from -MaxAngle to MaxAngle, 0 to 1,000,000; usually 0
	// Angles are those to choose from, if there are any, in place of MaxAngle: whole degrees of -1,000,000 to 1,000,000.
	Angles        AngleList     `json:"angles"`
	Scale         Range         `json:"scale"`         // 0.001 to 1000, usually 1 to 1
	Aspect        Range         `json:"aspect"`        // width by height, 0.001 to 1000, usually 1 to 1
	MinSize       float64       `json:"min_size"`      // of the output's sides, 0 to 2^24, usually 0
	MaxSize       float64       `json:"max_size"`      // likewise, MinSize to 1e10, usually 1e10
	Interpolation Interpolation `json:"interpolation"` // usually bilinear
	Backend       Backend       `json:"backend"`       // opencv4
	Fill          []float64     `json:"fill"`          // usually 255
}

//msgp:tuple RandomWarp

func init() {
	Register(Info{
		Name: "random_warp", Version: 1, New: func() Op { return NewRandomWarp(10) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	})
}

const (
	mxnetDrawReference = "MXNet 1.9.1 ImageRecordIter, of its draws the distribution"
	maxAngle           = 1_000_000
	maxWarpSize        = 1e10 // MXNet's own default
)

// NewRandomWarp rotates by up to so many degrees, bilinearly, and fills with 255.
func NewRandomWarp(maxAngle int) *RandomWarp {
	return &RandomWarp{
		MaxAngle: maxAngle, Scale: Range{1, 1}, Aspect: Range{1, 1}, MaxSize: maxWarpSize,
		Interpolation: Bilinear, Backend: OpenCV4, Fill: []float64{255},
	}
}

// Validate checks the ranges, the names and that there is a fill value.
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

// Infer gives an image whose size is known if all scales give the same.
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

// size is the output's for an image of h x w, with fractions.
func (o *RandomWarp) size(scale float32, h, w int) (float32, float32) {
	side := func(n int) float32 {
		return max(float32(o.MinSize), min(float32(o.MaxSize), float32(scale*float32(n))))
	}
	return side(h), side(w)
}

// Apply is not for random ops.
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
	a, b := kernel.CosSinDegrees(angle)
	p := float32(2*k) / (1 + r)
	q := float32(r * p)
	nh, nw := o.size(k, h, w)
	m0, m1 := float32(p*a)-float32(float32(s*b)*q), float32(p*b)+float32(float32(s*a)*q)
	m3, m4 := float32(-b*q), float32(a*q)
	m2 := (nw - (float32(m0*float32(w)) + float32(m1*float32(h)))) / 2
	m5 := (nh - (float32(m3*float32(w)) + float32(m4*float32(h)))) / 2
	if nh > maxSide || nw > maxSide {
		return inputErr("%v would become %v x %v, want sides of at most %d", d.In[0], nh, nw, maxSide)
	}
	if nh < 1 || nw < 1 { // cv2.warpAffine takes an empty size for the input's
		nh, nw = float32(h), float32(w)
	}
	op := Make[WarpAffine](d)
	*op = WarpAffine{
		Matrix: Affine{float64(m0), float64(m1), float64(m2), float64(m3), float64(m4), float64(m5)},
		Height: int(nh), Width: int(nw),
		Interpolation: o.Interpolation, Backend: o.Backend, Fill: o.Fill,
	}
	return d.Emit(op)
}
