package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// GaussianBlur blurs an image with a Gaussian of standard deviation SigmaX
// along the rows and SigmaY along the columns. It takes a uint8 image with any
// number of channels, HWC or CHW, and keeps the description. Every channel is
// blurred on its own, including alpha.
//
// pillow: three box blurs along the rows, then three along the columns. A sigma
// of 0 skips its axis. With v = sigma^2/3 and L = sqrt(12*v+1), a box has the
// whole radius l = floor((L-1)/2) and a part of one more pixel on each side,
// (2l+1)*(l*(l+1)-3v) / (6*(v-(l+1)^2)). The radius r, with its part, is
// computed in float32. A whole pixel weighs w = floor(2^24/(2r+1)), and a
// partial one half of the rest, floor((2^24-(2l+1)*w)/2). Each of the six blurs
// rounds half up to uint8. Pixels outside the image are the nearest ones
// inside.
//
// Reference: Pillow 13.0.0, ImageFilter.GaussianBlur, whose radius is the
// sigma.
type GaussianBlur struct {
	KernelHeight int     `json:"kernel_height"` // rows of the kernel; 0 with pillow
	KernelWidth  int     `json:"kernel_width"`  // columns of the kernel; 0 with pillow
	SigmaY       float64 `json:"sigma_y"`       // standard deviation along the columns in pixels, 0 to 10000
	SigmaX       float64 `json:"sigma_x"`       // standard deviation along the rows in pixels, 0 to 10000
	Backend      Backend `json:"backend"`       // pillow
}

//msgp:tuple GaussianBlur

func init() {
	Register(Info{
		Name: "gaussian_blur", Version: 1, New: func() Op { return NewGaussianBlur(2) },
		Reference: "Pillow 13.0.0 ImageFilter.GaussianBlur", Exactness: "0",
	})
}

const (
	maxSigma = 10000
	// boxPasses is the number of box blurs per axis of Pillow's Gaussian.
	boxPasses = 3
)

// NewGaussianBlur returns the op with Pillow's arithmetic and the same sigma
// for both axes.
func NewGaussianBlur(sigma float64) *GaussianBlur {
	return &GaussianBlur{SigmaY: sigma, SigmaX: sigma, Backend: Pillow}
}

// Validate checks the sigmas, the sizes and the backend.
func (o *GaussianBlur) Validate() error {
	if o.Backend != Pillow {
		return paramErr("backend is %v, want pillow", o.Backend)
	}
	if err := checkSigma("sigma_y", o.SigmaY); err != nil {
		return err
	}
	if err := checkSigma("sigma_x", o.SigmaX); err != nil {
		return err
	}
	if o.KernelHeight != 0 || o.KernelWidth != 0 {
		return paramErr("kernel_height %d, kernel_width %d, want 0 with backend pillow", o.KernelHeight, o.KernelWidth)
	}
	return nil
}

// checkSigma wants a standard deviation of 0..maxSigma.
func checkSigma(name string, v float64) error {
	if !(v >= 0 && v <= maxSigma) {
		return paramErr("%s is %v, want 0 to %d", name, v, maxSigma)
	}
	return nil
}

// Infer keeps the description.
func (o *GaussianBlur) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Uint8)
}

// Apply blurs plane by plane.
func (o *GaussianBlur) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	g := gridOf(s.Desc)
	size := g.height * g.width * g.pixel
	blur := boxBlur{grid: g}
	blur.x, blur.alongX = kernel.GaussianBox(o.SigmaX, boxPasses)
	blur.y, blur.alongY = kernel.GaussianBox(o.SigmaY, boxPasses)
	line := g.width * g.pixel
	blur.lines = c.Scratch(2 * line)
	blur.sums = tensor.Cast[int32](c.Scratch(4 * line))
	blur.spare = c.Scratch(size)
	for p := range g.planes {
		blur.plane(dst[0].Data[p*size:][:size], s.Data[p*size:][:size])
	}
	return nil
}

// boxBlur blurs the planes of an image as Pillow does.
type boxBlur struct {
	grid
	x, y           kernel.BoxBlur
	alongX, alongY bool
	lines          []uint8 // two rows
	sums           []int32 // one row
	spare          []uint8 // a plane
}

func (b *boxBlur) plane(dst, src []uint8) {
	if b.alongX {
		to := dst
		if b.alongY {
			to = b.spare
		}
		n := b.width * b.pixel
		one, two := b.lines[:n], b.lines[n:]
		for y := range b.height {
			b.x.Row(one, src[y*n:], b.width, b.pixel)
			b.x.Row(two, one, b.width, b.pixel)
			b.x.Row(to[y*n:], two, b.width, b.pixel)
		}
		src = to
	}
	if !b.alongY {
		if !b.alongX {
			copy(dst, src)
		}
		return
	}
	n := b.width * b.pixel
	b.y.Rows(dst, src, b.sums, n, b.height)
	b.y.Rows(b.spare, dst, b.sums, n, b.height)
	b.y.Rows(dst, b.spare, b.sums, n, b.height)
}
