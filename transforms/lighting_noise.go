package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// LightingAlpha is how far a colour moves along each of three directions.
type LightingAlpha [3]float32

// UnmarshalJSON reads a list of three.
func (a *LightingAlpha) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, a[:]) }

// LightingNoise moves all colours of an image along the principal components of ImageNet's colours: AlexNet's augmentation.
// It takes uint8 images of three channels, red, green and blue, in both layouts, and gives the same description, 0 to 255.
//
// Red is added 55.46*-0.5675*a + 4.794*0.7192*b + 1.148*0.4009*c for the three alphas, green and blue likewise with
// (-0.5808, -0.0045, -0.8140) and (-0.5836, -0.6948, 0.4203). All are float32, each operation is rounded; the sum's fraction
// is cut off, and it is clamped.
//
// Reference: MXNet 1.9.1, pca_noise of its ImageRecordIter, whose alphas are normal.
type LightingNoise struct {
	Alpha LightingAlpha `json:"alpha"` // -1e6 to 1e6 each, usually about 0
}

//msgp:tuple LightingAlpha LightingNoise
//msgp:ignore lightingState

func init() {
	Register(Info{
		Name: "lighting_noise", Version: 1, New: func() Op { return NewLightingNoise([3]float32{}) }, InPlace: true,
		Reference: "MXNet 1.9.1 ImageRecordIter pca_noise", Exactness: "0",
	})
}

// NewLightingNoise makes the op.
func NewLightingNoise(alpha [3]float32) *LightingNoise { return &LightingNoise{Alpha: alpha} }

// Validate checks the alphas.
func (o *LightingNoise) Validate() error {
	for i, v := range o.Alpha {
		if !(v >= -maxFactor && v <= maxFactor) {
			return paramErr("alpha[%d] is %v, want -%v to %v", i, v, maxFactor, maxFactor)
		}
	}
	return nil
}

// Infer keeps the description.
func (o *LightingNoise) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	return wantChannels(in[0], 3)
}

// lightingAxes are the eigenvectors by their eigenvalues, for red, green and blue.
var lightingAxes = func() (axes [3][3]float32) {
	values := [3]float32{55.46, 4.794, 1.148}
	for i, row := range [3][3]float32{{-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}} {
		for j, v := range row {
			axes[i][j] = float32(values[j] * v)
		}
	}
	return axes
}()

// lightingState is the table of an op.
type lightingState struct {
	op    LightingNoise
	valid bool
	table [3 * 256]uint8
}

// Apply adds, by a table.
func (o *LightingNoise) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	st, ok := c.State.(*lightingState)
	if !ok {
		st = &lightingState{}
		c.State = st
	}
	if !st.valid || st.op != *o {
		st.op, st.valid = *o, true
		for i, axis := range lightingAxes {
			add := float32(axis[0]*o.Alpha[0]) + float32(axis[1]*o.Alpha[1]) + float32(axis[2]*o.Alpha[2])
			for v := range 256 {
				st.table[i*256+v] = trunc8(float32(v) + add)
			}
		}
	}
	if s.Layout == tensor.HWC {
		kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 3, st.table[:])
		return nil
	}
	plane := s.Height() * s.Width()
	for i := range 3 {
		kernel.LookupHWC(dst[0].Data[i*plane:][:plane], s.Data[i*plane:][:plane], 1, st.table[i*256:][:256])
	}
	return nil
}

// Pointwise says that the op is one, see type Pointwise.
func (o *LightingNoise) Pointwise() {}
