package transforms

import "github.com/infer-prep/infer-prep/tensor"

// LightingAlpha is the distance by which a colour moves along each of three
// directions.
type LightingAlpha [3]float32

// UnmarshalJSON parses a list of three numbers.
func (a *LightingAlpha) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, a[:]) }

// LightingNoise moves all colours of an image along the principal components of
// ImageNet's colours: AlexNet's augmentation. It takes a uint8 image with the
// channels red, green and blue, HWC or CHW, and keeps the description. Values
// range from 0 to 255.
//
// For the alphas a, b and c, red increases by 55.46*-0.5675*a + 4.794*0.7192*b
// + 1.148*0.4009*c. Green and blue use the eigenvectors (-0.5808, -0.0045,
// -0.8140) and (-0.5836, -0.6948, 0.4203). All arithmetic is float32 with each
// operation rounded. The sum is truncated and clamped.
//
// Reference: MXNet 1.9.1, pca_noise of its ImageRecordIter, which draws the
// alphas from a normal distribution.
type LightingNoise struct {
	Alpha LightingAlpha `json:"alpha"` // -1e6 to 1e6 each; 0 keeps the colours
}

//msgp:tuple LightingAlpha LightingNoise

func init() {
	Register(Info{
		Name: "lighting_noise", Version: 1, New: func() Op { return NewLightingNoise([3]float32{}) }, InPlace: true,
		Reference: "MXNet 1.9.1 ImageRecordIter pca_noise", Exactness: "0",
	})
}

// NewLightingNoise returns the op.
func NewLightingNoise(alpha [3]float32) *LightingNoise { return &LightingNoise{Alpha: alpha} }

// Validate checks the range of the alphas.
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

// lightingAxes holds the eigenvectors times their eigenvalues, for red, green
// and blue.
var lightingAxes = func() (axes [3][3]float32) {
	values := [3]float32{55.46, 4.794, 1.148}
	for i, row := range [3][3]float32{{-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}} {
		for j, v := range row {
			axes[i][j] = float32(values[j] * v)
		}
	}
	return axes
}()

// lightingState is the lookup table of an op.
type lightingState struct {
	op    LightingNoise
	valid bool
	table [3 * 256]uint8
}

// Apply looks the sums up in a table.
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
	lookupChannels(dst[0], s, st.table[:])
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *LightingNoise) Pointwise() {}
