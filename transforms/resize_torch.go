package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

func (r *resampler) torch(c *Context, how sampling, dst, src *tensor.Tensor) {
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	switch how.interp {
	case Nearest:
		r.nearest(how, kernel.NearestTorch, dst, src)
		return
	case NearestExact:
		r.nearest(how, kernel.NearestExactTorch(d.h, d.w), dst, src)
		return
	}
	if src.DType == tensor.Float32 {
		r.torchFloat(c, how, s, d, tensor.View[float32](dst), tensor.View[float32](src))
		return
	}
	in := tensor.Cast[float32](c.Scratch(len(src.Data) * 4))
	out := tensor.Cast[float32](c.Scratch(len(dst.Data) * 4))
	kernel.ToF32(in, src.Data)
	r.torchFloat(c, how, s, d, out, in)
	kernel.RoundU8(dst.Data, out)
}

// torchUint8 scales bytes in fixed point, the width first. With corners, for
// bytes only, it does so with align_corners.
func (r *resampler) torchUint8(c *Context, how sampling, corners bool, dst, src *tensor.Tensor) {
	float := src.DType != tensor.Uint8 || how.backend == TorchUint8NoAVX2 && how.interp == Bilinear
	if float || how.interp == Nearest || how.interp == NearestExact {
		r.torch(c, how, dst, src)
		return
	}
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	f := torchFilters[how.interp]
	fill := func(t *kernel.Taps, in, out int) {
		if corners {
			t.TorchU8Corners(in, out, f)
		} else {
			t.TorchU8(in, out, 0, out, f, how.antialias)
		}
	}
	if s.w != d.w && r.x.fresh(how, src.DType, s.w, d.w) {
		fill(&r.x.taps, s.w, d.w)
		if s.ch == 3 {
			r.x.taps.PackRows()
		}
	}
	if s.h != d.h && r.y.fresh(how, src.DType, s.h, d.h) {
		fill(&r.y.taps, s.h, d.h)
	}
	r.fixedPoint(c, how, dst, src)
	if generic := dst.Channels() > 4 || how.backend == TorchUint8NoAVX2; generic && d.w == 1 && s.h != d.h {
		// torch 2.15.0's kernel for other than 1 to 4 channels, and for CPUs
		// without AVX2, computes the first row of a one-column result and
		// repeats it.
		plane := d.h * d.ch
		for p := range d.planes {
			rows := dst.Data[p*plane:][:plane]
			for i := d.ch; i < plane; i += d.ch {
				copy(rows[i:], rows[:d.ch])
			}
		}
	}
}

var torchFilters = [...]kernel.TorchFilter{
	Bilinear: kernel.TorchLinear, Bicubic: kernel.TorchCubic, Lanczos: kernel.TorchLanczos,
}

func (r *resampler) torchFloat(c *Context, how sampling, s, d shape, dst, src []float32) {
	inPlane, outPlane := s.h*s.w*s.ch, d.h*d.w*s.ch
	if how.interp == Area {
		for p := range s.planes {
			kernel.TorchArea(dst[p*outPlane:][:outPlane], src[p*inPlane:][:inPlane], s.h, s.w, d.h, d.w, s.ch)
		}
		return
	}
	f, plain := torchFilters[how.interp], how.backend == TorchUint8NoAVX2
	if !how.antialias {
		r.torchPlain(how, false, s, d, dst, src)
		return
	}
	in := src
	if s.w != d.w {
		if r.x.fresh(how, tensor.Float32, s.w, d.w) {
			r.x.taps.Torch(s.w, d.w, f)
		}
		out := dst
		if s.h != d.h {
			out = tensor.Cast[float32](c.Scratch(s.planes * s.h * d.w * s.ch * 4))
		}
		x := &r.x.taps
		kernel.TorchHorizontal(out, in, s.planes*s.h, s.w, d.w, s.ch, x.Start, x.Len, x.WF, x.K, plain)
		in = out
	}
	if s.h != d.h {
		if r.y.fresh(how, tensor.Float32, s.h, d.h) {
			r.y.taps.Torch(s.h, d.h, f)
		}
		y, line := &r.y.taps, d.w*s.ch
		for p := range s.planes {
			if d.w == 1 {
				// torch 2.15.0 computes the first row of a one-column result
				// and repeats it.
				kernel.TorchVertical(dst[p*outPlane:][:line], in[p*s.h*line:][:s.h*line], 1, line, y.Start, y.Len, y.WF, y.K, plain)
				for i := 1; i < d.h; i++ {
					copy(dst[p*outPlane+i*line:][:line], dst[p*outPlane:])
				}
				continue
			}
			kernel.TorchVertical(dst[p*outPlane:][:outPlane], in[p*s.h*line:][:s.h*line], d.h, line, y.Start, y.Len, y.WF, y.K, plain)
		}
	}
}

// torchPlain scales without antialiasing: bilinear or bicubic, and with
// align_corners if corners is set. An op has the same corners for all images.
func (r *resampler) torchPlain(how sampling, corners bool, s, d shape, dst, src []float32) {
	f := torchFilters[how.interp]
	direct := f == kernel.TorchLinear && kernel.TorchSmall(d.h, d.w)
	fused, key := f == kernel.TorchCubic || direct, tensor.Float32
	if fused {
		key = tensor.Invalid // with its own table
	}
	if r.x.fresh(how, key, s.w, d.w) {
		r.x.cv.TorchPlain(s.w, d.w, f, fused, corners)
	}
	if r.y.fresh(how, key, s.h, d.h) {
		r.y.cv.TorchPlain(s.h, d.h, f, fused, corners)
	}
	inPlane, outPlane := s.h*s.w*s.ch, d.h*d.w*s.ch
	for p := range s.planes {
		if direct {
			grouped := s.ch &^ 7
			if p < s.planes&^7 {
				grouped = 1
			}
			kernel.TorchSmallLinear(dst[p*outPlane:][:outPlane], src[p*inPlane:][:inPlane], s.w, d.w, s.ch, grouped, &r.x.cv, &r.y.cv)
		} else {
			kernel.TorchMixed(dst[p*outPlane:][:outPlane], src[p*inPlane:][:inPlane], s.w, d.w, s.ch, &r.x.cv, &r.y.cv)
		}
	}
}
