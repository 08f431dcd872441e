package transforms

import "github.com/infer-prep/infer-prep/tensor"

// LightingAlpha is the distance by which a colour moves along each of three
// directions.
type LightingAlpha [3]float64

// UnmarshalJSON parses a list of three numbers.
func (a *LightingAlpha) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, a[:]) }

// LightingNoise moves all colours of an image along the principal components of
// ImageNet's colours: AlexNet's augmentation. It takes a uint8 image with the
// channels red, green and blue, HWC or CHW, and keeps the description. Values
// range from 0 to 255.
//
// For the alphas a, b and c, red increases by 55.46*-0.5675*a + 4.794*0.7192*b
// + 1.148*0.4009*c. Green and blue use the eigenvectors (-0.5808, -0.0045,
// -0.8140) and (-0.5836, -0.6948, 0.4203). Each operation is rounded, and the
// sum is clamped:
//
//   - MXNet: the alphas and the factors are rounded to float32. All arithmetic
//     is float32. The sum is truncated.
//   - MindSpore: as MXNet, except that a product of two factors is computed in
//     float64 and then rounded to float32, and that the sum is rounded half to
//     even.
//   - Pillow: all arithmetic is float64. The sum is truncated.
//
// Reference: MXNet 1.9.1, pca_noise of its ImageRecordIter; MindSpore 2.10.0,
// vision.RandomLighting of an array, and of a Pillow image for pillow. They
// draw the alphas from a normal distribution.
type LightingNoise struct {
	Alpha   LightingAlpha `json:"alpha"`   // -1e6 to 1e6 each; 0 keeps the colours
	Backend Backend       `json:"backend"` // mxnet, mindspore or pillow; default mxnet
}

//msgp:tuple LightingAlpha LightingNoise
//sheet:lighting_noise {"alpha": [0.8, 0.8, 0.8]}

// NewLightingNoise returns the op with MXNet's arithmetic.
func NewLightingNoise(alpha [3]float64) *LightingNoise { return &LightingNoise{alpha, MXNet} }

// Info describes the op.
func (*LightingNoise) Info() Info {
	return Info{
		Name: "lighting_noise", Version: 1, New: func() Op { return NewLightingNoise([3]float64{}) }, InPlace: true,
		Reference: "MXNet 1.9.1 ImageRecordIter pca_noise; MindSpore 2.10.0 vision.RandomLighting", Exactness: "0",
	}
}

// Validate checks the range of the alphas and the backend.
func (o *LightingNoise) Validate() error {
	for i, v := range o.Alpha {
		if !(v >= -maxFactor && v <= maxFactor) {
			return paramErr("alpha[%d] is %v, want -%v to %v", i, v, maxFactor, maxFactor)
		}
	}
	return checkLighting(o.Backend)
}

func checkLighting(b Backend) error {
	if b != MXNet && b != MindSpore && b != Pillow {
		return paramErr("backend is %v, want mxnet, mindspore or pillow", b)
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

// These are the eigenvalues, and the eigenvectors for red, green and blue.
var (
	lightingValues  = [3]float64{55.46, 4.794, 1.148}
	lightingVectors = [3][3]float64{{-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}}
)

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
		for i := range 3 {
			o.fill(st.table[i*256:][:256], &lightingVectors[i])
		}
	}
	lookupChannels(dst[0], s, st.table[:])
	return nil
}

// fill fills the table of a channel.
func (o *LightingNoise) fill(table []uint8, vector *[3]float64) {
	var wide float64
	var narrow float32
	for i, v := range vector {
		product := float64(lightingValues[i] * v)
		axis := float32(product)
		if o.Backend == MXNet {
			axis = float32(float32(lightingValues[i]) * float32(v))
		}
		wide += float64(product * o.Alpha[i])
		narrow += float32(axis * float32(o.Alpha[i]))
	}
	for v := range table {
		switch o.Backend {
		case Pillow:
			table[v] = clamp8(int32(float64(v) + wide))
		case MindSpore:
			table[v] = round8(float32(v) + narrow)
		default:
			table[v] = trunc8(float32(v) + narrow)
		}
	}
}

// Pointwise marks the op as Pointwise.
func (o *LightingNoise) Pointwise() {}
