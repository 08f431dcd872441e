//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// wantDeep is want for an op that takes uint16 images, too. It rejects those
// for which the sampling has no reference.
func (s sampling) wantDeep(d tensor.Desc) error {
	if !d.IsImage() || d.DType != tensor.Uint16 {
		return s.want(d)
	}
	if err := wantImage(d, tensor.Uint16); err != nil {
		return err
	}
	switch s.backend {
	case OpenCV:
	case Pillow:
		if s.interp == PILCubic {
			return inputErr("%v with interpolation pilcubic, want uint8 or float32", d)
		}
	case Torch, TorchUint8:
		if s.interp != Nearest && s.interp != NearestExact && s.interp != Bilinear {
			return inputErr("%v with interpolation %v and backend %v, want nearest, nearest_exact or bilinear: torchvision does not limit the results of the others to uint16", d, s.interp, s.backend)
		}
	default:
		return inputErr("%v with backend %v, want uint8 or float32; backends pillow, opencv and torch take uint16", d, s.backend)
	}
	return wantSides(d)
}

// applyDeep is apply for images that wantDeep accepts.
func (s sampling) applyDeep(c *Context, dst, src *tensor.Tensor) error {
	if src.DType != tensor.Uint16 {
		return s.apply(c, dst, src)
	}
	dense, err := c.Dense(src)
	if err != nil {
		return err
	}
	r := resamplerOf(c)
	switch {
	case s.backend == Pillow && (s.interp == Nearest || s.interp == NearestExact):
		r.nearest(s, kernel.NearestPillow16, dst, dense)
		return nil
	case s.interp == Nearest || s.interp == NearestExact:
		return r.resample(c, s, dst, dense)
	case s.backend == Pillow:
		return r.pillowUint16(c, s, dst, dense)
	}
	return r.resampleUint16(c, s, dst, dense)
}

// resampleUint16 scales a dense uint16 image in float32. As cv2.resize does,
// the result is rounded half to even and clamped; the mean of 2 x 2 pixels is
// rounded half up in images of 1, 3 and 4 channels, for which OpenCV has
// integer vector code. As torchvision's resize does, the result is truncated.
func (r *resampler) resampleUint16(c *Context, how sampling, dst, src *tensor.Tensor) error {
	if dst.Shape == src.Shape {
		copy(dst.Data, src.Data)
		return nil
	}
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	if how.backend == OpenCV && (how.interp == Bilinear || how.interp == Area) {
		if s.h == 2*d.h && s.w == 2*d.w && (d.ch == 1 || d.ch == 3 || d.ch == 4) {
			halveUint16(tensor.Cast[uint16](dst.Data), tensor.Cast[uint16](src.Data), d)
			return nil
		}
	}
	from, to := src.Desc, dst.Desc
	from.DType, to.DType = tensor.Float32, tensor.Float32
	if need := int64(from.Size()) + int64(to.Size()); c.Limits.Bytes > 0 && need > c.Limits.Bytes {
		return limitErr("%v resized to %d x %d (height x width) needs %d bytes as float32, want at most %d", src.Desc, dst.Height(), dst.Width(), need, c.Limits.Bytes)
	}
	a, err := c.Temp(from)
	if err != nil {
		return err
	}
	b, err := c.Temp(to)
	if err != nil {
		return err
	}
	in, out := tensor.Cast[uint16](src.Data), tensor.Cast[uint16](dst.Data)
	values := tensor.Cast[float32](a.Data)
	for i, v := range in {
		values[i] = float32(v)
	}
	// OpenCV's vectors have 8 elements of uint16. Lanczos adds in ascending
	// order everywhere.
	r.lanes = 8
	if how.interp == Lanczos {
		r.lanes = math.MaxInt
	}
	err = r.resample(c, how, b, a)
	r.lanes = 0
	if err != nil {
		return err
	}
	if how.backend != OpenCV {
		for i, v := range tensor.Cast[float32](b.Data) {
			out[i] = uint16(int32(v)) // bilinear does not leave uint16's range
		}
		return nil
	}
	for i, v := range tensor.Cast[float32](b.Data) {
		out[i] = uint16(min(max(math.RoundToEven(float64(v)), 0), math.MaxUint16))
	}
	return nil
}

// pillowUint16 scales each channel as Pillow's Image.resize scales mode I;16:
// with float64 weights, and each pass rounded.
func (r *resampler) pillowUint16(c *Context, how sampling, dst, src *tensor.Tensor) error {
	if dst.Shape == src.Shape {
		copy(dst.Data, src.Data)
		return nil
	}
	if need := how.memory(src.Desc, dst.Desc); c.Limits.Bytes > 0 && need > c.Limits.Bytes {
		return limitErr("%v resized to %d x %d (height x width) needs %d bytes between the passes, want at most %d", src.Desc, dst.Height(), dst.Width(), need, c.Limits.Bytes)
	}
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	f := pillowFilters[how.interp]
	if s.w != d.w && r.x.fresh(how, src.DType, s.w, d.w) {
		r.x.taps.Pillow(s.w, d.w, 0, d.w, f, true)
	}
	if s.h != d.h && r.y.fresh(how, src.DType, s.h, d.h) {
		r.y.taps.Pillow(s.h, d.h, 0, d.h, f, true)
	}
	x, y := &r.x.taps, &r.y.taps
	horizontal := func(out, in []uint16, h int) {
		for row := range s.planes * h {
			in, out := in[row*s.w*s.ch:][:s.w*s.ch], out[row*d.w*s.ch:][:d.w*s.ch]
			for i := range d.w {
				n := int(x.Len[i])
				p, w := in[int(x.Start[i])*s.ch:][:n*s.ch], x.W64[i*x.K:][:n]
				for ch := range s.ch {
					sum := 0.0
					for k, t := range w {
						sum += float64(float64(p[k*s.ch+ch]) * t)
					}
					out[i*s.ch+ch] = pillow16(sum)
				}
			}
		}
	}
	vertical := func(out, in []uint16, w int) {
		line := w * s.ch
		sums := tensor.Cast[float64](c.Scratch(line * 8))
		for p := range s.planes {
			for i := range d.h {
				n := int(y.Len[i])
				clear(sums)
				for k, t := range y.W64[i*y.K:][:n] {
					for j, v := range in[(p*s.h+int(y.Start[i])+k)*line:][:line] {
						sums[j] += float64(float64(v) * t)
					}
				}
				row := out[(p*d.h+i)*line:][:line]
				for j, sum := range sums {
					row[j] = pillow16(sum)
				}
			}
		}
	}
	twoPasses(c, how, s, d, tensor.Cast[uint16](dst.Data), tensor.Cast[uint16](src.Data), horizontal, vertical)
	return nil
}

// pillow16 rounds half up and clamps.
func pillow16(v float64) uint16 {
	return uint16(min(max(v, 0)+0.5, math.MaxUint16))
}

// halveUint16 writes the means of 2 x 2 pixels, rounded half up.
func halveUint16(dst, src []uint16, d shape) {
	line := d.w * d.ch
	for y := range d.planes * d.h {
		a, b := src[4*y*line:][:2*line], src[(4*y+2)*line:][:2*line]
		out := dst[y*line:][:line]
		for x := range d.w {
			for k := range d.ch {
				i := 2*x*d.ch + k
				out[x*d.ch+k] = uint16((uint32(a[i]) + uint32(a[i+d.ch]) + uint32(b[i]) + uint32(b[i+d.ch]) + 2) >> 2)
			}
		}
	}
}
