package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// ElasticNoise is Elastic with a random displacement: uniform noise that is
// blurred and scaled. It takes the images of Elastic.
//
// The noise of x and y at pixel n = row*width + column is -1 + 2u with the
// numbers u = floor(v/2^8) / 2^24, for the first and the second 32 bits v of
// the stream of package rng with key Key and ordinal n. If its sigma is not 0,
// the noise of x is blurred by a kernel of as many rows and columns as the odd
// number of floor(8*SigmaX+1) and the next one, that of y likewise. The taps
// are those of GaussianBlur with backend torch, of SigmaX along the rows and
// SigmaY along the columns, and so are the pixels outside the image. The rows
// are blurred first, and then the columns. Every product and every sum of taps
// is rounded to float32, from the first tap to the last. The displacement is
// the noise times AlphaX, divided by the width, and times AlphaY, divided by
// the height.
//
// Reference: torchvision 0.29.2 ElasticTransform, for the same uniform numbers
// and up to the rounding of the blur, which torchvision does with the product
// of both kernels. The pixels are those of torchvision's elastic for the
// displacement.
type ElasticNoise struct {
	AlphaX        float64       `json:"alpha_x"`       // factor of the noise of x, in half pixels, -1e6 to 1e6; default 50
	AlphaY        float64       `json:"alpha_y"`       // factor of the noise of y, in half pixels, -1e6 to 1e6; default 50
	SigmaX        float64       `json:"sigma_x"`       // standard deviation of the blur along the rows in pixels, 0.001 to 511; both may be 0, which means no blur; default 5
	SigmaY        float64       `json:"sigma_y"`       // standard deviation of the blur along the columns in pixels, as SigmaX; default 5
	Key           uint64        `json:"key"`           // key of the noise; its lower half is the first word of the stream's key
	Interpolation Interpolation `json:"interpolation"` // nearest or bilinear; default bilinear
	Fill          NumberList    `json:"fill"`          // as for Elastic; default 0
}

//msgp:tuple ElasticNoise

// NewElasticNoise returns the op with the parameters of torchvision's
// ElasticTransform.
func NewElasticNoise(key uint64) *ElasticNoise {
	return &ElasticNoise{AlphaX: 50, AlphaY: 50, SigmaX: 5, SigmaY: 5, Key: key, Interpolation: Bilinear, Fill: NumberList{0}}
}

const (
	maxElasticAlpha = 1e6
	maxElasticSigma = 511 // a kernel of 4089 taps
)

// Info describes the op.
func (*ElasticNoise) Info() Info {
	return Info{
		Name: "elastic_noise", Version: 1, New: func() Op { return NewElasticNoise(0) },
		Reference: "torchvision 0.29.2 elastic, with a displacement of its own", Exactness: "0",
	}
}

// Validate checks the numbers, the interpolation and the fill.
func (o *ElasticNoise) Validate() error {
	if err := checkWithin("alpha_x", o.AlphaX, maxElasticAlpha); err != nil {
		return err
	}
	if err := checkWithin("alpha_y", o.AlphaY, maxElasticAlpha); err != nil {
		return err
	}
	if o.SigmaX != 0 || o.SigmaY != 0 {
		if !(o.SigmaX >= minTorchSigma && o.SigmaX <= maxElasticSigma) {
			return paramErr("sigma_x is %v, want %v to %d, or 0 with a sigma_y of 0", o.SigmaX, minTorchSigma, maxElasticSigma)
		}
		if !(o.SigmaY >= minTorchSigma && o.SigmaY <= maxElasticSigma) {
			return paramErr("sigma_y is %v, want %v to %d, or 0 with a sigma_x of 0", o.SigmaY, minTorchSigma, maxElasticSigma)
		}
	}
	if err := checkMove(Torch, o.Interpolation); err != nil {
		return err
	}
	return checkFill(o.Fill)
}

// elasticTaps returns the number of taps for a sigma.
func elasticTaps(sigma float64) int { return int(float64(8*sigma)+1) | 1 }

// half returns half the kernel of the blur, 0 without one.
func (o *ElasticNoise) half() int {
	if o.SigmaX == 0 {
		return 0
	}
	return max(elasticTaps(o.SigmaX), elasticTaps(o.SigmaY)) / 2
}

// Infer keeps the description.
func (o *ElasticNoise) Infer(dst, in []tensor.Desc) error {
	if err := wantMoved(in[0], Torch, o.Fill); err != nil {
		return err
	}
	half := o.half()
	if h, w := in[0].Height(), in[0].Width(); h != tensor.Unknown && h <= half || w != tensor.Unknown && w <= half {
		return inputErr("%v, want sides of more than %d pixels, half the kernel of the blur", in[0], half)
	}
	dst[0] = in[0]
	return nil
}

// Apply moves the pixels.
func (o *ElasticNoise) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	field, err := o.field(c, s.Height(), s.Width())
	if err != nil {
		return err
	}
	t := torchMap{displacement: field}
	t.apply(c, o.Interpolation, o.Fill, dst[0], s)
	return nil
}

// field returns the displacement of each pixel of an image of h x w.
func (o *ElasticNoise) field(c *Context, h, w int) ([]float32, error) {
	if need := 16 * int64(h) * int64(w); c.Limits.Bytes > 0 && need > c.Limits.Bytes {
		return nil, limitErr("the displacement of an image of %d x %d (height x width) needs %d bytes, want at most %d", h, w, need, c.Limits.Bytes)
	}
	n := h * w
	noise := [2][]float32{tensor.Cast[float32](c.Scratch(4 * n)), tensor.Cast[float32](c.Scratch(4 * n))}
	key := noiseKey(o.Key)
	for i := range n {
		stream := key.At(uint64(i))
		for f := range noise {
			noise[f][i] = float32(float32(stream.Uint32()>>8)*0x1p-23) - 1
		}
	}
	field := tensor.Cast[float32](c.Scratch(8 * n))
	for f, v := range noise {
		if o.SigmaX != 0 {
			// field is free until both are blurred.
			o.blur(c, v, field[:n], elasticTaps([2]float64{o.SigmaX, o.SigmaY}[f]), w)
		}
	}
	for f, v := range noise {
		alpha, side := float32([2]float64{o.AlphaX, o.AlphaY}[f]), float32([2]int{w, h}[f])
		for i, x := range v {
			field[2*i+f] = float32(x*alpha) / side
		}
	}
	return field, nil
}

// blur blurs rows of w numbers in place.
func (o *ElasticNoise) blur(c *Context, v, spare []float32, n, w int) {
	taps := tensor.Cast[float32](c.Scratch(4 * n))
	line := tensor.Cast[float32](c.Scratch(4 * (w + n - 1)))
	h, half := len(v)/w, n/2
	kernel.TorchGaussian(taps, o.SigmaX)
	for y := range h {
		for i := range line {
			line[i] = v[y*w+kernel.Reflect101(i-half, w)]
		}
		out := spare[y*w:][:w]
		clear(out)
		for k, a := range taps {
			addScaled(out, line[k:], a)
		}
	}
	kernel.TorchGaussian(taps, o.SigmaY)
	clear(v)
	for y := range h {
		for k, a := range taps {
			addScaled(v[y*w:][:w], spare[kernel.Reflect101(y+k-half, h)*w:], a)
		}
	}
}

// addScaled adds a*x to v.
func addScaled(v, x []float32, a float32) {
	x = x[:len(v)]
	for i := range v {
		v[i] += float32(x[i] * a)
	}
}

// Move moves a column by the same noise, a mask with nearest and 0.
func (o *ElasticNoise) Move(d *Draw, r Role, _, to tensor.Desc) error {
	if r.Format == CoordRelative {
		return cannotMove(o, r, movedRelative)
	}
	if r.Kind > RoleMask {
		return emitOp(d, ElasticNoiseCoords{
			Format: r.Format, AlphaX: o.AlphaX, AlphaY: o.AlphaY, SigmaX: o.SigmaX, SigmaY: o.SigmaY, Key: o.Key,
			Height: to.Height(), Width: to.Width(), Clamping: r.Clamping,
		})
	}
	c := copyOp[ElasticNoise](d, o)
	if r.Kind == RoleMask {
		c.Interpolation, c.Fill = Nearest, nil
	}
	return d.Emit(c)
}
