package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

const movedExactness = "0 (torch: as on AMD's CPUs; on Intel's, 1 in 0.01% of the values)"

// checkWithin rejects a number outside -most..most.
func checkWithin(name string, v, most float64) error {
	return checkBounds(name, v, -most, most)
}

// checkCenter wants no numbers, or a point.
func checkCenter(center NumberList) error {
	if n := len(center); n != 0 && n != 2 {
		return paramErr("center has %d values, want none or x and y", n)
	}
	for _, v := range center {
		if err := checkWithin("center", v, maxSide); err != nil {
			return err
		}
	}
	return nil
}

// centerOf returns the point x, y of an op, by default that at half of w and h.
func centerOf(center NumberList, w, h int) (x, y float64) {
	if len(center) > 0 {
		return center[0], center[1]
	}
	return float64(float64(w) / 2), float64(float64(h) / 2)
}

// checkFill is checkValues for a fill that may be empty.
func checkFill(fill NumberList) error {
	if len(fill) == 0 {
		return nil
	}
	return checkValues("fill", fill)
}

// checkMove wants a backend and an interpolation that the ops that move pixels
// support.
func checkMove(b Backend, i Interpolation) error {
	switch b {
	case Pillow:
		if i != Nearest && i != Bilinear && i != Bicubic {
			return paramErr("interpolation is %v with backend pillow, want nearest, bilinear or bicubic", i)
		}
	case Torch:
		if i != Nearest && i != Bilinear {
			return paramErr("interpolation is %v with backend torch, want nearest or bilinear", i)
		}
	case OpenCV4:
		return checkWarp(i, b)
	default:
		return paramErr("backend is %v, want pillow, torch or opencv4", b)
	}
	return nil
}

// wantMoved rejects images that the ops that move pixels do not support.
func wantMoved(d tensor.Desc, b Backend, fill NumberList) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	most := maxSide
	if b == OpenCV4 {
		most = maxWarpSide
	}
	for _, n := range [2]int{d.Height(), d.Width()} {
		if n > most {
			return inputErr("%v, want sides of at most %d", d, most)
		}
	}
	if b != Torch {
		if err := wantChannels(d, 1, 2, 3, 4); err != nil {
			return err
		}
	}
	if len(fill) == 0 {
		return nil
	}
	return wantFill(d, "fill", fill)
}

// movedFill returns a pixel of the fill. An empty fill is 0.
func movedFill(c *Context, d tensor.Desc, fill NumberList) []byte {
	if len(fill) == 0 {
		b := c.Scratch(d.Channels())
		clear(b)
		return b
	}
	return fillPixel(c, d, fill)
}

// pillowMap is a transform of Pillow's: six numbers of an affine matrix or the
// eight of a perspective, from the output to the input.
type pillowMap struct {
	affine      [6]float64
	perspective [8]float64
	projective  bool // use perspective
}

// apply computes dst from the dense image src.
func (m *pillowMap) apply(c *Context, i Interpolation, fill []byte, dst, src *tensor.Tensor) error {
	alpha := src.Channels() == 2 || src.Channels() == 4
	if i == Nearest || !alpha {
		m.plain(c, i, fill, dst, src)
		return nil
	}
	return premultiplied(c, dst, src, func(src *tensor.Tensor) { m.plain(c, i, fill, dst, src) })
}

// plain is apply without regard to alpha.
func (m *pillowMap) plain(c *Context, i Interpolation, fill []byte, dst, src *tensor.Tensor) {
	in, out := shapeOf(src.Desc), shapeOf(dst.Desc)
	index := tensor.Cast[int32](c.Scratch(4 * out.w))
	plane := func(p int) (kernel.PILImage, []byte) {
		n := in.h * in.w * in.ch
		return kernel.PILImage{
			Pix: src.Data[p*n:][:n], Width: in.w, Height: in.h, Channels: in.ch, Fill: fill[p*in.ch:][:in.ch], Index: index,
		}, dst.Data[p*out.h*out.w*out.ch:][:out.h*out.w*out.ch]
	}
	if i == Nearest && !m.projective {
		for p := range in.planes {
			s, d := plane(p)
			s.PILNearest(d, out.w, &m.affine)
		}
		return
	}
	taps := kernel.PILTaps(1)
	switch i {
	case Bilinear:
		taps = 2
	case Bicubic:
		taps = 4
	}
	xs, ys := tensor.Cast[float64](c.Scratch(8*out.w)), tensor.Cast[float64](c.Scratch(8*out.w))
	for y := range out.h {
		if m.projective {
			kernel.PerspectiveCoords(xs, ys, &m.perspective, y)
		} else {
			kernel.AffineCoords(xs, ys, &m.affine, y)
		}
		for p := range in.planes {
			s, d := plane(p)
			s.PILRow(taps, d[y*out.w*out.ch:][:out.w*out.ch], xs, ys)
		}
	}
}

// warp computes dst from the dense image src as OpenCV's warpAffine does. The
// matrix maps the input to the output.
func warp(c *Context, i Interpolation, fill []byte, m [6]float64, dst, src *tensor.Tensor) {
	m = kernel.WarpInvert(m)
	taps := warpTaps(i)
	w := 4 * dst.Width()
	dx, dy, index := tensor.Cast[int32](c.Scratch(w)), tensor.Cast[int32](c.Scratch(w)), tensor.Cast[int32](c.Scratch(w))
	kernel.WarpDeltas(dx, m[0])
	kernel.WarpDeltas(dy, m[3])
	for y := range dst.Height() {
		warpRow(taps, fill, dst, src, y, taps.WarpStart(m[1], m[2], y), taps.WarpStart(m[4], m[5], y), dx, dy, index)
	}
}

// warpPerspective is warp for warpPerspective and a map from the output to the
// input.
func warpPerspective(c *Context, i Interpolation, fill []byte, m *[9]float64, dst, src *tensor.Tensor) {
	taps := warpTaps(i)
	w := 4 * dst.Width()
	dx, dy, index := tensor.Cast[int32](c.Scratch(w)), tensor.Cast[int32](c.Scratch(w)), tensor.Cast[int32](c.Scratch(w))
	for y := range dst.Height() {
		taps.PerspectiveDeltas(dx, dy, m, y, dst.Height())
		warpRow(taps, fill, dst, src, y, 0, 0, dx, dy, index)
	}
}

// warpRow computes row y of all planes.
func warpRow(taps kernel.WarpTaps, fill []byte, dst, src *tensor.Tensor, y int, x0, y0 int32, dx, dy, index []int32) {
	in, out := shapeOf(src.Desc), shapeOf(dst.Desc)
	for p := range in.planes {
		n, line := in.h*in.w*in.ch, out.w*out.ch
		row := dst.Data[(p*out.h+y)*line:][:line]
		taps.WarpRow(row, src.Data[p*n:][:n], in.w, in.h, in.ch, fill[p*in.ch:][:in.ch], x0, y0, dx, dy, index)
	}
}

// moveAffine computes dst from the dense image src with a backend's matrix: for
// OpenCV4 from the input to the output, for the others from the output to the
// input, and for Torch relative to the centres of both.
func moveAffine(c *Context, b Backend, i Interpolation, fill NumberList, m [6]float64, dst, src *tensor.Tensor) error {
	switch b {
	case OpenCV4:
		warp(c, i, movedFill(c, src.Desc, fill), m, dst, src)
		return nil
	case Torch:
		t := torchMap{theta: kernel.TorchTheta(&m, src.Width(), src.Height())}
		t.apply(c, i, fill, dst, src)
		return nil
	}
	p := pillowMap{affine: m}
	return p.apply(c, i, movedFill(c, src.Desc, fill), dst, src)
}

// torchMap is a transform as torchvision computes it for tensors.
type torchMap struct {
	theta        [6]float32 // from kernel.TorchTheta
	divisor      [2]float32 // for a perspective
	projective   bool
	displacement []float32 // in place of theta: x and y of each pixel
}

// apply computes dst from the dense image src.
func (m *torchMap) apply(c *Context, i Interpolation, fill NumberList, dst, src *tensor.Tensor) {
	in, out := shapeOf(src.Desc), shapeOf(dst.Desc)
	var values []float32
	if len(fill) > 0 {
		values = tensor.Cast[float32](c.Scratch(4 * src.Channels()))
		for i := range values {
			values[i] = float32(channelValue(fill, i))
		}
	}
	g := kernel.TorchGrid{X: tensor.Cast[float32](c.Scratch(4 * out.w)), Y: tensor.Cast[float32](c.Scratch(4 * out.w))}
	index := tensor.Cast[int32](c.Scratch(4 * out.w))
	var columns []float32
	if m.displacement != nil {
		columns = tensor.Cast[float32](c.Scratch(4 * out.w))
		for i := range columns {
			columns[i] = kernel.TorchIdentity(i, out.w)
		}
	}
	for y := range out.h {
		switch {
		case m.displacement != nil:
			g.Displace(m.displacement[y*out.w*2:], columns, y, in.w, in.h)
		case m.projective:
			g.Perspective(&m.theta, m.divisor, y, in.w, in.h)
		default:
			g.Affine(&m.theta, y, out.h, in.w, in.h)
		}
		for p := range in.planes {
			n := in.h * in.w * in.ch
			s := kernel.TorchImage{Pix: src.Data[p*n:][:n], Width: in.w, Height: in.h, Channels: in.ch, Index: index}
			if values != nil {
				s.Fill = values[p*in.ch:][:in.ch]
			}
			row := dst.Data[(p*out.h+y)*out.w*out.ch:][:out.w*out.ch]
			if i == Nearest {
				s.Nearest(row, g)
			} else {
				s.Bilinear(row, g)
			}
		}
	}
}

// radians converts degrees as Python's math.radians does.
func radians(degrees float64) float64 { return float64(degrees * (math.Pi / 180)) }
