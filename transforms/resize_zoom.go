package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// ResizeZoom blurs an image and scales it to Height x Width pixels, as SciPy's
// gaussian_filter and zoom do. It takes a uint8 or float32 image of any number
// of channels, HWC or CHW, and keeps dtype, layout and channels. Values must be
// finite. The sign of a zero may be another one than the reference's.
//
// An axis of n pixels that becomes m has the standard deviation s = (n/m -
// 1)/2. If s is above 0, the axis is blurred: 2·trunc(4·s + 0.5) + 1 weights
// exp(-i^2/(2·s^2)) divided by their sum, first along the columns, then along
// the rows. Output i then lies at (i + 0.5)·n/m - 0.5, and is interpolated
// linearly between two pixels. Pixels beyond an edge mirror those before it,
// without the edge itself.
//
// Sums are float64. The blur of an axis is rounded to the image's dtype; bytes
// are rounded down there, and half up when they are interpolated. At the end,
// values are clipped to those of the input. Kernels of more than 4095 weights
// are an ErrInput.
//
// Reference: transformers 5.23.0, Owlv2ImageProcessorPil.resize, with SciPy
// 1.16.3 and NumPy 2.4.6 on x86-64 with AVX-512.
type ResizeZoom struct {
	Height int `json:"height"` // output height in pixels, 1 to 2^24; default 960
	Width  int `json:"width"`  // output width in pixels, 1 to 2^24; default 960
	// NoAntialias leaves out the blur. Default false.
	NoAntialias bool `json:"no_antialias"`
}

//msgp:tuple ResizeZoom
//sheet:resize_zoom {"height": 30, "width": 30}

// NewResizeZoom returns the op for an output of height x width.
func NewResizeZoom(height, width int) *ResizeZoom { return &ResizeZoom{Height: height, Width: width} }

// Info describes the op.
func (*ResizeZoom) Info() Info {
	return Info{
		Name: "resize_zoom", Version: 1, New: func() Op { return NewResizeZoom(960, 960) },
		Reference: "transformers 5.23.0 Owlv2ImageProcessorPil, SciPy 1.16.3 (x86-64 with AVX-512)", Exactness: "0",
	}
}

// Validate checks the sides.
func (o *ResizeZoom) Validate() error { return checkSides(o.Height, o.Width) }

// Infer sets the size.
func (o *ResizeZoom) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSampled(d); err != nil {
		return err
	}
	if err := wantImage(d, tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	for i, p := range [2][2]int{{d.Height(), o.Height}, {d.Width(), o.Width}} {
		if n := 2*zoomRadius(zoomSigma(p[0], p[1])) + 1; n > maxKernel && !o.NoAntialias {
			return inputErr("%d pixels that become %d need a kernel of %d weights along axis %d, want at most %d", p[0], p[1], n, i, maxKernel)
		}
	}
	dst[0] = d.WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// Move scales a column, a mask with nearest.
func (o *ResizeZoom) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return moveResize[ResizeZoom](d, o, r, sampling{Bilinear, Pillow, false}, from, to)
}

// zoomSigma returns the deviation of the blur of n pixels that become m.
func zoomSigma(n, m int) float64 { return max(0, (float64(n)/float64(m)-1)/2) }

// zoomRadius returns the weights beside the middle one.
func zoomRadius(sigma float64) int { return int(float64(4*sigma) + 0.5) }

// zoomAxis scales one axis of n pixels to m.
type zoomAxis struct {
	n       int
	step    float64
	weights []float64 // of the blur from the middle one outwards; empty for none
}

func newZoomAxis(c *Context, n, m int, blurred bool) zoomAxis {
	a := zoomAxis{n: n, step: float64(n) / float64(m)}
	sigma := zoomSigma(n, m)
	if !blurred || sigma <= 1e-15 {
		return a
	}
	radius := zoomRadius(sigma)
	w := tensor.Cast[float64](c.Scratch(8 * (2*radius + 1)))
	factor := -0.5 / float64(sigma*sigma)
	for i := range w {
		x := i - radius
		w[i] = exactmath.NumPyExp(float64(factor * float64(x*x)))
	}
	sum := dsp.PairwiseSum(w)
	for i := range w {
		w[i] /= sum
	}
	a.weights = w[radius:]
	return a
}

// zoomTap is a sampling position: two pixels and their weights.
type zoomTap struct {
	a, b          int
	first, second float64
}

// tap returns the sampling position of output i.
func (a *zoomAxis) tap(i int) zoomTap {
	at := float64((float64(i)+0.5)*a.step) - 0.5
	if a.n == 1 {
		at = 0
	}
	at = math.Abs(at) // mirrored
	floor := math.Floor(at)
	first := 1 - (at - floor)
	k := int(floor)
	return zoomTap{kernel.Reflect101(k, a.n), kernel.Reflect101(k+1, a.n), first, 1 - first}
}

// Apply blurs and scales.
func (o *ResizeZoom) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Uint8 {
		resizeZoom(c, o, dst[0], s, tensor.View[uint8](dst[0]), tensor.View[uint8](s), func(t float64) uint8 { return uint8(min(t+0.5, 255)) })
	} else {
		resizeZoom(c, o, dst[0], s, tensor.View[float32](dst[0]), tensor.View[float32](s), func(t float64) float32 { return float32(t) })
	}
	return nil
}

// zoom blurs the rows of a plane that an output needs.
type zoom[T uint8 | float32] struct {
	x, y  zoomAxis
	line  int // elements of a row
	px    int // elements of a pixel
	plane []T
	sums  []float64 // a row
	wide  []float64 // a row with pixels beyond its ends
	rows  [2]struct {
		at int // -1 for none
		v  []T
	}
}

// row returns row y of the plane, blurred along both axes. It is valid until
// another two rows have been asked for.
func (z *zoom[T]) row(y int) []T {
	r := &z.rows[y&1]
	if r.at == y {
		return r.v
	}
	r.at = y
	copy(r.v, z.plane[y*z.line:])
	if w := z.y.weights; len(w) > 0 {
		for i, v := range r.v {
			z.sums[i] = float64(float64(v) * w[0])
		}
		for j := len(w) - 1; j > 0; j-- {
			above, below := z.plane[kernel.Reflect101(y-j, z.y.n)*z.line:][:z.line], z.plane[kernel.Reflect101(y+j, z.y.n)*z.line:][:z.line]
			for i, v := range above {
				z.sums[i] += float64((float64(v) + float64(below[i])) * w[j])
			}
		}
		for i, t := range z.sums {
			r.v[i] = T(t)
		}
	}
	if w := z.x.weights; len(w) > 0 {
		radius := len(w) - 1
		for i := range z.x.n + 2*radius {
			from := kernel.Reflect101(i-radius, z.x.n) * z.px
			for ch := range z.px {
				z.wide[i*z.px+ch] = float64(r.v[from+ch])
			}
		}
		for i := range r.v {
			at := i + radius*z.px
			t := float64(z.wide[at] * w[0])
			for j := radius; j > 0; j-- {
				t += float64((z.wide[at-j*z.px] + z.wide[at+j*z.px]) * w[j])
			}
			r.v[i] = T(t)
		}
	}
	return r.v
}

func resizeZoom[T uint8 | float32](c *Context, o *ResizeZoom, dst, src *tensor.Tensor, to, from []T, round func(float64) T) {
	in, out := shapeOf(src.Desc), shapeOf(dst.Desc)
	z := zoom[T]{x: newZoomAxis(c, in.w, o.Width, !o.NoAntialias), y: newZoomAxis(c, in.h, o.Height, !o.NoAntialias), px: in.ch, line: in.w * in.ch}
	z.sums = tensor.Cast[float64](c.Scratch(8 * z.line))
	z.wide = tensor.Cast[float64](c.Scratch(8 * (in.w + 2*len(z.x.weights)) * z.px))
	spare := c.Scratch(2 * z.line * src.DType.Size())
	z.rows[0].v, z.rows[1].v = tensor.Cast[T](spare)[:z.line], tensor.Cast[T](spare)[z.line:]
	low, high := from[0], from[0]
	for _, v := range from {
		low, high = min(low, v), max(high, v)
	}
	size := in.h * z.line
	for p := range in.planes {
		z.plane = from[p*size:][:size]
		z.rows[0].at, z.rows[1].at = -1, -1
		for i := range out.h {
			y := z.y.tap(i)
			top, bottom := z.row(y.a), z.row(y.b)
			for j := range out.w {
				x := z.x.tap(j)
				l, r := x.a*z.px, x.b*z.px
				for ch := range z.px {
					t := float64(float64(float64(top[l+ch])*y.first) * x.first)
					t += float64(float64(float64(top[r+ch])*y.first) * x.second)
					t += float64(float64(float64(bottom[l+ch])*y.second) * x.first)
					t += float64(float64(float64(bottom[r+ch])*y.second) * x.second)
					to[((p*out.h+i)*out.w+j)*z.px+ch] = min(max(round(t), low), high)
				}
			}
		}
	}
}
