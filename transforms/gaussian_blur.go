package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// GaussianBlur blurs an image with a Gaussian of standard deviation SigmaX
// along the rows and SigmaY along the columns. It takes a uint8 image with any
// number of channels, HWC or CHW, with torch also a float32 image, and keeps
// the description. Every channel is blurred on its own, including alpha.
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
// opencv: tap i of n weighs exp(-(i-(n-1)/2)^2 / (2*sigma^2)), divided by the
// sum. The weights are rounded half to even to 8 bits, from the outside in. The
// error of each carries over to the next, and the centre takes the rest. The
// sums over rows and columns are exact, and the result is rounded half up.
// Outside the image, pixels are mirrored at the centres of the border pixels.
// Kernel size 0 is round(6*sigma+1), half to even, and 1 more if that is even.
// SigmaY 0 stands for SigmaX. If both are 0, kernels of more than nine taps
// have the sigma 0.15*n+0.35. The weights of smaller ones are, up to the centre
// and in 1/256: 64 128; 16 64 96; 8 28 56 72; 4 13 30 51 60. An image of one
// row (column) is not blurred along the columns (rows).
//
// torch: tap i of n weighs the softmax of -(x/sigma)^2 with x from -lim to lim
// in n-1 equal steps, lim = (n-1)/(2*sqrt(2)). The kernel is the product of
// both axes, rounded to float32. The products of kernel and pixels are added
// row by row in float32, each with one rounding (FMA). torch rounds the
// products too if the image has one channel and at most 20480 pixels, borders
// included, and the kernel has at most three rows or three columns. uint8
// rounds half to even. Outside the image, pixels are mirrored at the centres of
// the border pixels. Sides of at most half a kernel are an ErrInput.
//
// Reference: Pillow 13.0.0, ImageFilter.GaussianBlur, whose radius is the
// sigma. OpenCV 5.0.0, GaussianBlur with BORDER_REFLECT_101; the wheel from
// PyPI returns the same with and without IPP. MindSpore 2.10.0's GaussianBlur
// is OpenCV's with explicit sigmas, rounded to float32. MindSpore's default
// sigma is 0.3*((n-1)*0.5-1)+0.8. torchvision 0.29.2, v2 gaussian_blur of one
// image with torch 2.15.0, on x86-64 with AVX-512. Its default sigma is
// 0.15*n+0.35. With AVX2, torch adds the weights of kernels of nine taps or
// more in another order.
type GaussianBlur struct {
	KernelHeight int     `json:"kernel_height"` // rows of the kernel, odd, 1 to 4095; opencv: 0 derives them from the sigma; pillow: 0
	KernelWidth  int     `json:"kernel_width"`  // columns of the kernel, as KernelHeight
	SigmaY       float64 `json:"sigma_y"`       // standard deviation along the columns in pixels, 0 to 10000; torch: from 0.001
	SigmaX       float64 `json:"sigma_x"`       // standard deviation along the rows in pixels, 0 to 10000; torch: from 0.001
	Backend      Backend `json:"backend"`       // pillow, opencv or torch; default pillow
}

//msgp:tuple GaussianBlur
//sheet:gaussian_blur {"sigma_y": 3, "sigma_x": 3}

const (
	maxSigma = 10000
	// minTorchSigma keeps float32 exponents of the Gaussian finite.
	minTorchSigma = 0.001
	maxKernel     = 4095 // taps per axis of a blur
	// boxPasses is the number of box blurs per axis of Pillow's Gaussian.
	boxPasses = 3
)

// NewGaussianBlur returns the op with Pillow's arithmetic and the same sigma
// for both axes.
func NewGaussianBlur(sigma float64) *GaussianBlur {
	return &GaussianBlur{SigmaY: sigma, SigmaX: sigma, Backend: Pillow}
}

// Info describes the op.
func (*GaussianBlur) Info() Info {
	return Info{
		Name: "gaussian_blur", Version: 1, New: func() Op { return NewGaussianBlur(2) },
		Reference: "Pillow 13.0.0 ImageFilter.GaussianBlur; OpenCV 5.0.0 GaussianBlur; torchvision 0.29.2 v2 gaussian_blur (x86-64 with AVX-512)", Exactness: "0",
	}
}

// Validate checks the sigmas, the sizes and the backend.
func (o *GaussianBlur) Validate() error {
	if err := checkBounds("sigma_y", o.SigmaY, 0, maxSigma); err != nil {
		return err
	}
	if err := checkBounds("sigma_x", o.SigmaX, 0, maxSigma); err != nil {
		return err
	}
	switch o.Backend {
	case Pillow:
		if o.KernelHeight != 0 || o.KernelWidth != 0 {
			return paramErr("kernel_height %d, kernel_width %d, want 0 with backend pillow", o.KernelHeight, o.KernelWidth)
		}
		return nil
	case OpenCV:
		if err := checkTaps("kernel_height", o.KernelHeight, "sigma_y", o.cvSigmaY()); err != nil {
			return err
		}
		return checkTaps("kernel_width", o.KernelWidth, "sigma_x", o.SigmaX)
	}
	if err := checkLibrary(o.Backend); err != nil {
		return err
	}
	if o.SigmaY < minTorchSigma || o.SigmaX < minTorchSigma {
		return paramErr("sigma_y is %v, sigma_x is %v, want %v to %d with backend torch", o.SigmaY, o.SigmaX, minTorchSigma, maxSigma)
	}
	if err := checkKernel("kernel_height", o.KernelHeight); err != nil {
		return err
	}
	return checkKernel("kernel_width", o.KernelWidth)
}

// cvSigmaY is OpenCV's sigma along the columns.
func (o *GaussianBlur) cvSigmaY() float64 {
	if o.SigmaY == 0 {
		return o.SigmaX
	}
	return o.SigmaY
}

// checkTaps wants a kernel size for OpenCV, or a sigma to derive it from.
func checkTaps(name string, n int, sigmaName string, sigma float64) error {
	if n != 0 {
		return checkKernel(name, n)
	}
	if sigma == 0 {
		return paramErr("%s and %s are 0, want one of them to be positive", name, sigmaName)
	}
	if n = kernel.CVBlurSize(sigma); n > maxKernel {
		return paramErr("%s is 0 and %s is %v, which makes a kernel of %d taps, want at most %d", name, sigmaName, sigma, n, maxKernel)
	}
	return nil
}

// checkKernel wants an odd number of taps.
func checkKernel(name string, n int) error {
	if n < 1 || n > maxKernel || n%2 == 0 {
		return paramErr("%s is %d, want an odd number of 1 to %d", name, n, maxKernel)
	}
	return nil
}

// Infer keeps the description.
func (o *GaussianBlur) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if o.Backend != Torch {
		return wantImage(in[0], tensor.Uint8)
	}
	if err := wantImage(in[0], tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	if h, w := in[0].Height(), in[0].Width(); h != tensor.Unknown && h <= o.KernelHeight/2 || w != tensor.Unknown && w <= o.KernelWidth/2 {
		return inputErr("%v, want more than %d x %d pixels (height x width), half the kernel", in[0], o.KernelHeight/2, o.KernelWidth/2)
	}
	return nil
}

// Apply blurs plane by plane.
func (o *GaussianBlur) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	switch o.Backend {
	case Pillow:
		o.applyPillow(c, dst[0], s)
	case OpenCV:
		o.applyCV(c, dst[0], s)
	default:
		o.applyTorch(c, dst[0], s, kernel.TorchGaussian)
	}
	return nil
}

func (o *GaussianBlur) applyPillow(c *Context, dst, src *tensor.Tensor) {
	g := gridOf(src.Desc)
	line := g.width * g.pixel
	size := g.height * line
	blur := boxBlur{grid: g, lines: c.Scratch(2 * line), sums: tensor.Cast[int32](c.Scratch(4 * line)), spare: c.Scratch(size)}
	blur.x, blur.alongX = kernel.GaussianBox(o.SigmaX, boxPasses)
	blur.y, blur.alongY = kernel.GaussianBox(o.SigmaY, boxPasses)
	for p := range g.planes {
		blur.plane(dst.Data[p*size:][:size], src.Data[p*size:][:size])
	}
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

func (o *GaussianBlur) applyCV(c *Context, dst, src *tensor.Tensor) {
	g := gridOf(src.Desc)
	blur := cvBlur{grid: g, tapsX: cvTaps(c, g.width, o.KernelWidth, o.SigmaX), tapsY: cvTaps(c, g.height, o.KernelHeight, o.cvSigmaY())}
	n := kernel.CVBlurWidth(g.width * g.pixel)
	blur.slots = min(len(blur.tapsY), g.height)
	blur.slot = 2 * n
	blur.rows = c.Scratch(blur.slot * blur.slots)
	blur.spare = c.Scratch(blur.slot)
	blur.padded = c.Scratch(2 * (n + (len(blur.tapsX)-1)*g.pixel))
	clear(blur.padded[2*(g.width+len(blur.tapsX)-1)*g.pixel:]) // never written, but read in groups of four
	blur.at = tensor.Cast[int64](c.Scratch(8 * len(blur.tapsY)))
	size := g.height * g.width * g.pixel
	for p := range g.planes {
		blur.plane(dst.Data[p*size:][:size], src.Data[p*size:][:size])
	}
}

// cvTaps returns the weights of an axis of the given length.
func cvTaps(c *Context, length, n int, sigma float64) []uint16 {
	switch {
	case length == 1:
		n, sigma = 1, 0
	case n == 0:
		n = kernel.CVBlurSize(sigma)
	}
	taps := tensor.Cast[uint16](c.Scratch(2 * n))
	kernel.CVBlurTaps(taps, sigma)
	return taps
}

// cvBlur blurs the planes of an image as OpenCV does.
type cvBlur struct {
	grid
	tapsX, tapsY []uint16
	padded       []byte // a row of uint16 with the pixels beyond its ends
	rows         []byte // the last rows that were blurred along the row, a ring
	slot, slots  int    // bytes of a row of rows, and their number
	spare        []byte
	at           []int64
}

func (b *cvBlur) plane(dst, src []uint8) {
	n, half, done := b.width*b.pixel, len(b.tapsY)/2, 0
	for y := range b.height {
		for ; done <= min(y+half, b.height-1); done++ {
			b.pad(src[done*n:][:n])
			kernel.CVBlurRow(b.rows[done%b.slots*b.slot:], b.padded, b.tapsX, n, b.pixel)
		}
		for j := range b.at {
			b.at[j] = int64(kernel.Reflect101(y+j-half, b.height) % b.slots * b.slot)
		}
		kernel.CVBlurMix(dst[y*n:], b.rows, b.spare, b.at, b.tapsY, n)
	}
}

// pad fills padded with a row.
func (b *cvBlur) pad(row []uint8) {
	half, px := len(b.tapsX)/2, b.pixel
	out := tensor.Cast[uint16](b.padded)
	for x := range half {
		left := row[kernel.Reflect101(x-half, b.width)*px:]
		right := row[kernel.Reflect101(b.width+x, b.width)*px:]
		for c := range px {
			out[x*px+c] = uint16(left[c])
			out[(half+b.width+x)*px+c] = uint16(right[c])
		}
	}
	kernel.Widen(out[half*px:], row)
}

// applyTorch keeps the rows that the kernel covers as float32, with the pixels
// beyond their ends, in a ring. gaussian computes the taps of an axis.
func (o *GaussianBlur) applyTorch(c *Context, dst, src *tensor.Tensor, gaussian func(taps []float32, sigma float64)) {
	h, w, ch := src.Height(), src.Width(), src.Channels()
	kh, kw := o.KernelHeight, o.KernelWidth
	ky, kx := tensor.Cast[float32](c.Scratch(4*kh)), tensor.Cast[float32](c.Scratch(4*kw))
	gaussian(ky, o.SigmaY)
	gaussian(kx, o.SigmaX)
	taps := tensor.Cast[float32](c.Scratch(4 * kh * kw))
	for y, a := range ky {
		for x, b := range kx {
			taps[y*kw+x] = float32(a * b)
		}
	}
	// torch passes other sizes to oneDNN.
	fused := ch > 1 || kh > 3 && kw > 3 || (h+kh-1)*(w+kw-1) > 20480

	in := shapeOf(src.Desc)
	px := in.ch
	slot := (w + kw - 1) * px
	rows := tensor.Cast[float32](c.Scratch(4 * kh * slot))
	at := tensor.Cast[int64](c.Scratch(8 * kh))
	sums := tensor.Cast[float32](c.Scratch(4 * w * px))
	for p := range in.planes {
		done := 0
		for y := range h {
			for ; done <= min(y+kh/2, h-1); done++ {
				reflectRow(rows[done%kh*slot:][:slot], src, (p*h+done)*w*px, px, kw/2)
			}
			for j := range at {
				at[j] = int64(kernel.Reflect101(y+j-kh/2, h) % kh * slot)
			}
			to := (p*h + y) * w * px
			if dst.DType == tensor.Float32 {
				kernel.TorchBlurRow(tensor.View[float32](dst)[to:][:w*px], rows, at, taps, kw, px, fused)
				continue
			}
			kernel.TorchBlurRow(sums, rows, at, taps, kw, px, fused)
			kernel.QuantizeF32(dst.Data[to:][:w*px], sums, roundScale, roundZero)
		}
	}
}

// QuantizeF32 rounds to uint8 with this scale and zero point.
var roundScale, roundZero = []float32{1}, []int32{0}

// reflectRow copies a row of src from element i on to the middle of dst and
// mirrors half pixels at each end.
func reflectRow(dst []float32, src *tensor.Tensor, i, px, half int) {
	middle := dst[half*px : len(dst)-half*px]
	if src.DType == tensor.Float32 {
		copy(middle, tensor.View[float32](src)[i:])
	} else {
		kernel.Floats(middle, src.Data[i:][:len(middle)])
	}
	last := len(middle) - px
	for x := range half {
		copy(dst[(half-1-x)*px:][:px], middle[(x+1)*px:])
		copy(dst[half*px+last+(x+1)*px:][:px], middle[last-(x+1)*px:])
	}
}
