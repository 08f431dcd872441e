package transforms

import (
	"cmp"
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	resampleReference = "Pillow 13.0.0 Image.resize; OpenCV 5.0.0.93 cv2.resize without IPP; torch 2.15.0 interpolate through torchvision 0.29.2"
	resampleExactness = "0 (opencv_ipp: 1 in 1 of 138 million values, with OPENCV_IPP=avx2; torch: on CPUs with fused multiply-add, with more than one thread; float32 area to 1 x 1 within 1e-6 of the largest value)"
)

// sampling is the method of scaling, without the sizes.
type sampling struct {
	interp    Interpolation
	backend   Backend
	antialias bool
}

func (s sampling) validate() error {
	if err := checkEnum("interpolation", s.interp, interpolationNames); err != nil {
		return err
	}
	switch s.backend {
	case Pillow:
		if s.interp == Area {
			return paramErr("interpolation area with backend pillow, want box, which is the same filter")
		}
		if !s.antialias && s.interp != Nearest && s.interp != NearestExact {
			return paramErr("no_antialias with backend pillow, which always antialiases: want false, or another backend")
		}
	case OpenCV:
		if s.interp == Box || s.interp == Hamming || s.interp == PILCubic {
			return paramErr("interpolation %v with backend opencv, want one of nearest, nearest_exact, bilinear, bicubic, lanczos, area", s.interp)
		}
	case Torch:
		if s.interp == Box || s.interp == Hamming || s.interp == PILCubic {
			return paramErr("interpolation %v with backend torch, want one of nearest, nearest_exact, bilinear, bicubic, lanczos, area", s.interp)
		}
		if s.interp == Lanczos && !s.antialias {
			return paramErr("no_antialias with interpolation lanczos and backend torch, want false: torch has no such kernel")
		}
	case TorchUint8, TorchUint8NoAVX2:
		switch s.interp {
		case Nearest, NearestExact, Bicubic:
		case Bilinear:
			if s.backend == TorchUint8NoAVX2 && !s.antialias {
				return paramErr("no_antialias with interpolation bilinear and backend torch_uint8_noavx2, want false: torch's bytes depend on the number of threads")
			}
		case Lanczos:
			if !s.antialias {
				return paramErr("no_antialias with interpolation lanczos and backend %v, want false: torch has no such kernel", s.backend)
			}
		default:
			return paramErr("interpolation %v with backend %v, want one of nearest, nearest_exact, bilinear, bicubic, lanczos", s.interp, s.backend)
		}
	case MXNet:
		if s.interp != Bicubic {
			return paramErr("interpolation %v with backend mxnet, want bicubic; use backend opencv for other interpolations", s.interp)
		}
	case OpenCVIPP:
		if s.interp != Bicubic {
			return paramErr("interpolation %v with backend opencv_ipp, want bicubic; use backend opencv for other interpolations", s.interp)
		}
	default:
		return checkLibrary(s.backend)
	}
	return nil
}

// want rejects images that the sampling does not support.
func (s sampling) want(d tensor.Desc) error {
	if s.backend == OpenCVIPP && d.DType == tensor.Float32 {
		return inputErr("%v with backend opencv_ipp, want uint8: the rounding of IPP's float32 depends on the position", d)
	}
	return wantSampled(d)
}

// wantSampled rejects images that the resizing ops do not support.
func wantSampled(d tensor.Desc) error {
	if err := wantImage(d, tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	return wantSides(d)
}

// wantArea rejects an image that cv2.resize does not shrink by area: one of
// more than four channels whose sizes are not whole multiples of the result's.
func (s sampling) wantArea(from, to tensor.Desc) error {
	if s.interp != Area || s.backend != OpenCV || from.Layout != tensor.HWC || from.Channels() <= 4 {
		return nil
	}
	h, w, oh, ow := from.Height(), from.Width(), to.Height(), to.Width()
	if h != tensor.Unknown && w != tensor.Unknown {
		if h < oh || w < ow || h == oh && w == ow || wholeRatio(h, oh) != 0 && wholeRatio(w, ow) != 0 {
			return nil
		}
	}
	return inputErr("%v with interpolation area and backend opencv, want at most 4 channels, CHW, or a size that is a whole multiple of the result's", from)
}

// wantSides rejects images without pixels and those that are too large.
func wantSides(d tensor.Desc) error {
	for _, n := range []int{d.Height(), d.Width()} {
		if n == 0 || n > maxSide {
			return inputErr("%v, want sides of 1 to %d", d, maxSide)
		}
	}
	if d.Channels() == 0 {
		return inputErr("%v, want at least one channel", d)
	}
	return nil
}

// inferSized is Infer for an op that scales whole images to the size that sized
// returns.
func inferSized(dst, in []tensor.Desc, how sampling, sized func(h, w int) (int, int, error)) error {
	if err := how.want(in[0]); err != nil {
		return err
	}
	h, w, err := sized(in[0].Height(), in[0].Width())
	if err != nil {
		return err
	}
	dst[0] = in[0].WithSize(h, w)
	if err := how.wantArea(in[0], dst[0]); err != nil {
		return err
	}
	return inferred(dst[0])
}

// apply scales src to the size of dst.
func (s sampling) apply(c *Context, dst, src *tensor.Tensor) error {
	r := resamplerOf(c)
	dense, err := c.Dense(src)
	if err != nil {
		return err
	}
	return r.resample(c, s, dst, dense)
}

// axis is the table of one axis. Its slices are reused for other sizes.
type axis struct {
	how     sampling
	dtype   tensor.DType
	in, out int
	taps    kernel.Taps
	cv      kernel.CVTaps
	area    kernel.AreaTab
	ipp     kernel.IPPTaps
	index   []int32
}

// fresh reports whether the table must be computed, and records its key.
func (a *axis) fresh(how sampling, d tensor.DType, in, out int) bool {
	if a.out == out && a.in == in && a.dtype == d && a.how == how {
		return false
	}
	a.how, a.dtype, a.in, a.out = how, d, in, out
	return true
}

// resampler is the state of a resizing op.
type resampler struct {
	x, y axis
	view tensor.Tensor
	cv   kernel.CVScratch

	from, to tensor.Tensor // planes of ResizeTo

	// lanes is that of CVResizeF32; 0 is that of float32.
	lanes int
}

func resamplerOf(c *Context) *resampler {
	r, ok := c.State.(*resampler)
	if !ok {
		r = &resampler{}
		c.State = r
	}
	return r
}

// window returns a view of a box of t. The box must lie within t. The view is
// valid until the next call.
func (r *resampler) window(t *tensor.Tensor, top, left, h, w int) *tensor.Tensor {
	v := &r.view
	*v = *t
	ay, ax := 0, 1
	if t.Layout == tensor.CHW {
		ay, ax = 1, 2
	}
	v.Desc = t.Desc.WithSize(h, w)
	size := t.DType.Size()
	v.Data = t.Data[(top*t.Strides[ay]+left*t.Strides[ax])*size:]
	last := 1
	for i := range v.Shape.Rank() {
		last += (v.Shape.At(i) - 1) * v.Strides[i]
	}
	v.Data = v.Data[:last*size]
	return v
}

// shape is an image as the kernels see it: planes of rows of pixels of ch
// channels.
type shape struct{ planes, h, w, ch int }

func shapeOf(d tensor.Desc) shape {
	if d.Layout == tensor.CHW {
		return shape{d.Channels(), d.Height(), d.Width(), 1}
	}
	return shape{1, d.Height(), d.Width(), d.Channels()}
}

// resample scales the dense src to the dense dst.
func (r *resampler) resample(c *Context, how sampling, dst, src *tensor.Tensor) error {
	if dst.Shape == src.Shape {
		copy(dst.Data, src.Data)
		return nil
	}
	if need := how.memory(src.Desc, dst.Desc); c.Limits.Bytes > 0 && need > c.Limits.Bytes {
		return limitErr("%v resized to %d x %d (height x width) needs %d bytes between the passes, want at most %d", src.Desc, dst.Height(), dst.Width(), need, c.Limits.Bytes)
	}
	switch how.backend {
	case Pillow:
		return r.pillow(c, how, dst, src)
	case OpenCV, MXNet:
		r.opencv(c, how, dst, src)
	case OpenCVIPP:
		r.opencvIPP(c, how, dst, src)
	case TorchUint8, TorchUint8NoAVX2:
		r.torchUint8(c, how, false, dst, src)
	default:
		r.torch(c, how, dst, src)
	}
	return nil
}

// memory estimates the bytes that a resize needs besides its input and output:
// the result of the first pass, or the part of it that is kept, and the
// weights. For an image of one column that becomes one row, the first result is
// the product of the two.
func (s sampling) memory(src, dst tensor.Desc) int64 {
	h, w, oh, ow := int64(src.Height()), int64(src.Width()), int64(dst.Height()), int64(dst.Width())
	if s.interp == Nearest || s.interp == NearestExact {
		return 4 * (oh + ow)
	}
	// No filter reaches more than 3 pixels of the larger image to each side.
	weights := 12 * (7*(oh+ow) + 6*(h+w))
	if s.backend == OpenCV || s.backend == MXNet || s.backend == OpenCVIPP {
		return weights + 8*4*ow*int64(dst.Channels())
	}
	size := int64(src.DType.Size())
	if (s.backend == Pillow || s.backend == TorchUint8) && src.DType == tensor.Uint8 {
		rows := min(h, 6*(h/oh+1)+3+rowsAhead)
		return weights + max(rows*ow, rowsAhead*w)*int64(src.Channels())
	}
	if s.backend == Torch || s.backend == TorchUint8 || s.backend == TorchUint8NoAVX2 {
		size = 4
		if s.interp == Area || !s.antialias { // one pass
			return weights + (h*w+oh*ow)*int64(src.Channels())*size
		}
	}
	return weights + max(h*ow, oh*w)*int64(src.Channels())*size
}

// nearest copies the pixels at the indices of the axes' tables.
func (r *resampler) nearest(how sampling, rule func(idx []int32, in, out int), dst, src *tensor.Tensor) {
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	r.x.nearest(how, rule, s.w, d.w)
	r.y.nearest(how, rule, s.h, d.h)
	size := s.ch * src.DType.Size()
	for p := range s.planes {
		kernel.Pick(dst.Data[p*d.h*d.w*size:][:d.h*d.w*size], src.Data[p*s.h*s.w*size:][:s.h*s.w*size], s.w, size, r.x.index, r.y.index)
	}
}

func (a *axis) nearest(how sampling, rule func(idx []int32, in, out int), in, out int) {
	if !a.fresh(how, tensor.Invalid, in, out) {
		return
	}
	if cap(a.index) < out {
		a.index = make([]int32, out)
	}
	a.index = a.index[:out]
	rule(a.index, in, out)
}

var pillowFilters = [...]kernel.Filter{
	Box: kernel.FilterBox, Bilinear: kernel.FilterBilinear, Hamming: kernel.FilterHamming,
	Bicubic: kernel.FilterBicubic, Lanczos: kernel.FilterLanczos, PILCubic: kernel.FilterBicubic,
}

func (r *resampler) pillow(c *Context, how sampling, dst, src *tensor.Tensor) error {
	if how.interp == Nearest || how.interp == NearestExact {
		r.nearest(how, kernel.NearestPillow, dst, src)
		return nil
	}
	if n := src.Channels(); src.DType == tensor.Uint8 && (n == 2 || n == 4) {
		return premultiplied(c, dst, src, func(src *tensor.Tensor) { r.pillowPlain(c, how, dst, src) })
	}
	r.pillowPlain(c, how, dst, src)
	return nil
}

func (r *resampler) pillowPlain(c *Context, how sampling, dst, src *tensor.Tensor) {
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	float := src.DType == tensor.Float32
	f := pillowFilters[how.interp]
	if s.w != d.w && r.x.fresh(how, src.DType, s.w, d.w) {
		r.x.taps.Pillow(s.w, d.w, 0, d.w, f, float)
		if s.ch == 3 && !float {
			r.x.taps.PackRows()
		}
	}
	if s.h != d.h && r.y.fresh(how, src.DType, s.h, d.h) {
		r.y.taps.Pillow(s.h, d.h, 0, d.h, f, float)
	}
	if float {
		r.pillowFloat(c, how, s, d, tensor.View[float32](dst), tensor.View[float32](src))
		return
	}
	r.fixedPoint(c, how, dst, src)
}

// fixedPoint scales bytes with the fixed-point weights of the axes' tables.
func (r *resampler) fixedPoint(c *Context, how sampling, dst, src *tensor.Tensor) {
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	in, out := s.h*s.w*s.ch, d.h*d.w*s.ch
	var mid []uint8
	switch {
	case s.h == d.h || s.w == d.w:
	case how.verticalFirst(s, d):
		mid = c.Scratch(rowsAhead * s.w * s.ch)
	default:
		// K is at least every Len.
		mid = c.Scratch(min(r.y.taps.K+rowsAhead, s.h) * d.w * s.ch)
	}
	for p := range s.planes {
		r.fixedPointPlane(how, mid, s, d, dst.Data[p*out:][:out], src.Data[p*in:][:in])
	}
}

// rowsAhead is the number of rows that the first pass of bytes computes at a
// time. Kernels process groups of 4.
const rowsAhead = 16

// fixedPointPlane runs both passes for one plane. mid holds the rows between
// them.
func (r *resampler) fixedPointPlane(how sampling, mid []uint8, s, d shape, dst, src []uint8) {
	x, y := &r.x.taps, &r.y.taps
	in, out := s.w*s.ch, d.w*s.ch // bytes per row
	switch {
	case s.h == d.h:
		x.Horizontal(dst, src, s.h, s.w, s.ch)
	case s.w == d.w:
		y.Vertical(dst, src, in)
	case how.verticalFirst(s, d):
		for at := 0; at < d.h; at += rowsAhead {
			n := min(rowsAhead, d.h-at)
			for i := range n {
				y.VerticalRow(mid[i*in:][:in], src[int(y.Start[at+i])*in:], in, at+i)
			}
			x.Horizontal(dst[at*out:], mid, n, s.w, s.ch)
		}
	default:
		room := len(mid) / out
		first, end := 0, 0 // the rows in mid
		for i, start := range y.Start {
			if need := int(start + y.Len[i]); need > end {
				keep := min(int(start), end)
				copy(mid, mid[(keep-first)*out:(end-first)*out])
				first = keep
				if int(start) > end { // without antialiasing, rows can be skipped
					first, end = int(start), int(start)
				}
				n := min(room-(end-first), s.h-end)
				if even := n &^ 3; end+even >= need {
					n = even
				}
				x.Horizontal(mid[(end-first)*out:], src[end*in:], n, s.w, s.ch)
				end += n
			}
			y.VerticalRow(dst[i*out:][:out], mid[(int(start)-first)*out:], out, i)
		}
	}
}

// twoPasses scales by a horizontal pass over n rows and a vertical pass over
// rows of n elements. It skips a pass that is not needed.
func twoPasses[T uint8 | uint16 | float32](c *Context, how sampling, s, d shape, dst, src []T, horizontal, vertical func(out, in []T, n int)) {
	size := int(unsafe.Sizeof(src[0]))
	switch {
	case s.h == d.h:
		horizontal(dst, src, s.h)
	case s.w == d.w:
		vertical(dst, src, s.w)
	case how.verticalFirst(s, d):
		mid := tensor.Cast[T](c.Scratch(s.planes * d.h * s.w * s.ch * size))
		vertical(mid, src, s.w)
		horizontal(dst, mid, d.h)
	default:
		mid := tensor.Cast[T](c.Scratch(s.planes * s.h * d.w * s.ch * size))
		horizontal(mid, src, s.h)
		vertical(dst, mid, d.w)
	}
}

// verticalFirst reports the order of Pillow's two passes. The order affects the
// bytes, because the result of the first pass is rounded. The vertical pass is
// first if the height shrinks by more than twice as much as the width. This was
// measured with both orders on Pillow 13.0.0; earlier versions always start
// with the horizontal pass.
func (how sampling) verticalFirst(s, d shape) bool {
	return how.backend == Pillow && how.interp != PILCubic && d.h < s.h && s.h-d.h > 2*(s.w-d.w)
}

// pillowFloat is pillowPlain for mode F.
func (r *resampler) pillowFloat(c *Context, how sampling, s, d shape, dst, src []float32) {
	x, y := &r.x.taps, &r.y.taps
	horizontal := func(out, in []float32, h int) {
		kernel.HorizontalF32(out, in, s.planes*h, s.w, d.w, s.ch, x.Start, x.Len, x.W64, x.K)
	}
	vertical := func(out, in []float32, w int) {
		line := w * s.ch
		sum := tensor.Cast[float64](c.Scratch(line * 8))
		for p := range s.planes {
			kernel.VerticalF32(out[p*d.h*line:][:d.h*line], in[p*s.h*line:][:s.h*line], d.h, line, y.Start, y.Len, y.W64, y.K, sum)
		}
	}
	twoPasses(c, how, s, d, dst, src, horizontal, vertical)
}

// wholeRatio returns n if in is n times out in OpenCV's float64 arithmetic,
// else 0.
func wholeRatio(in, out int) int {
	scale := 1 / (float64(out) / float64(in))
	n := int(scale + 0.5)
	const epsilon = 1.0 / (1 << 52) // DBL_EPSILON
	if diff := scale - float64(n); diff < epsilon && diff > -epsilon {
		return n
	}
	return 0
}

var cvFilters = [...]kernel.CVFilter{
	Bilinear: kernel.CVLinear, Bicubic: kernel.CVCubic, Lanczos: kernel.CVLanczos4, Area: kernel.CVAreaUp,
}

func (r *resampler) opencv(c *Context, how sampling, dst, src *tensor.Tensor) {
	switch how.interp {
	case Nearest:
		r.nearest(how, kernel.NearestCV, dst, src)
		return
	case NearestExact:
		r.nearest(how, kernel.NearestExactCV, dst, src)
		return
	}
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	fx, fy := wholeRatio(s.w, d.w), wholeRatio(s.h, d.h)
	filter := cvFilters[how.interp]
	if how.interp == Bilinear && fx == 2 && fy == 2 || how.interp == Area && s.w >= d.w && s.h >= d.h {
		if fx != 0 && fy != 0 {
			r.areaFast(src, dst, s, d, fx, fy)
			return
		}
		r.area(c, how, src, dst, s, d)
		return
	}
	if r.x.fresh(how, src.DType, s.w, d.w) {
		r.x.cv.Resize(s.w, d.w, filter, false)
	}
	if r.y.fresh(how, src.DType, s.h, d.h) {
		r.y.cv.Resize(s.h, d.h, filter, true)
	}
	r.y.cv.FromFirst = how.backend == MXNet
	r.cvPasses(c, src, dst, filter)
}

// opencvIPP scales as cv2.resize does with IPP. IPP takes images of one, three
// and four channels with sides of at least 4 pixels.
func (r *resampler) opencvIPP(c *Context, how sampling, dst, src *tensor.Tensor) {
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	if s.h < 4 || s.w < 4 || s.ch == 2 || s.ch > 4 {
		r.opencv(c, how, dst, src)
		return
	}
	if r.x.fresh(how, src.DType, s.w, d.w) {
		r.x.ipp.Resize(s.w, d.w)
	}
	if r.y.fresh(how, src.DType, s.h, d.h) {
		r.y.ipp.Resize(s.h, d.h)
	}
	inPlane, outPlane := s.h*s.w*s.ch, d.h*d.w*s.ch
	rows := tensor.Cast[float32](c.Scratch(4 * d.w * s.ch * 4))
	for p := range s.planes {
		kernel.IPPResizeU8(dst.Data[p*outPlane:][:outPlane], src.Data[p*inPlane:][:inPlane], s.w, s.ch, &r.x.ipp, &r.y.ipp, rows)
	}
}

// cvPasses scales with the tables of OpenCV's taps.
func (r *resampler) cvPasses(c *Context, src, dst *tensor.Tensor, filter kernel.CVFilter) {
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	k := filter.Taps()
	line, inPlane, outPlane := d.w*s.ch, s.h*s.w*s.ch, d.h*d.w*s.ch
	rows := c.Scratch(line * k * 4)
	for p := range s.planes {
		if src.DType == tensor.Uint8 {
			kernel.CVResizeU8(dst.Data[p*outPlane:][:outPlane], src.Data[p*inPlane:][:inPlane], s.w, d.w, s.ch, &r.x.cv, &r.y.cv, tensor.Cast[int32](rows), &r.cv)
		} else {
			kernel.CVResizeF32(tensor.View[float32](dst)[p*outPlane:][:outPlane], tensor.View[float32](src)[p*inPlane:][:inPlane], s.w, d.w, s.ch, &r.x.cv, &r.y.cv, tensor.Cast[float32](rows), &r.cv, cmp.Or(r.lanes, 4))
		}
	}
}

func (r *resampler) areaFast(src, dst *tensor.Tensor, s, d shape, fx, fy int) {
	inPlane, outPlane := s.h*s.w*s.ch, d.h*d.w*s.ch
	for p := range s.planes {
		if src.DType == tensor.Uint8 {
			kernel.CVAreaFastU8(dst.Data[p*outPlane:][:outPlane], src.Data[p*inPlane:][:inPlane], d.h, d.w, s.ch, fx, fy)
		} else {
			kernel.CVAreaFastF32(tensor.View[float32](dst)[p*outPlane:][:outPlane], tensor.View[float32](src)[p*inPlane:][:inPlane], d.h, d.w, s.ch, fx, fy)
		}
	}
}

func (r *resampler) area(c *Context, how sampling, src, dst *tensor.Tensor, s, d shape) {
	// Invalid marks the table of an axis that does not grow.
	if r.x.fresh(how, tensor.Invalid, s.w, d.w) {
		r.x.area.Resize(s.w, d.w)
	}
	if r.y.fresh(how, tensor.Invalid, s.h, d.h) {
		r.y.area.Resize(s.h, d.h)
	}
	line, inPlane, outPlane := d.w*s.ch, s.h*s.w*s.ch, d.h*d.w*s.ch
	buf, sum := tensor.Cast[float32](c.Scratch(line*4)), tensor.Cast[float32](c.Scratch(line*4))
	for p := range s.planes {
		if src.DType == tensor.Uint8 {
			kernel.CVAreaU8(dst.Data[p*outPlane:][:outPlane], src.Data[p*inPlane:][:inPlane], s.w, d.w, s.ch, &r.x.area, &r.y.area, buf, sum)
		} else {
			kernel.CVAreaF32(tensor.View[float32](dst)[p*outPlane:][:outPlane], tensor.View[float32](src)[p*inPlane:][:inPlane], s.w, d.w, s.ch, &r.x.area, &r.y.area, buf, sum)
		}
	}
}
