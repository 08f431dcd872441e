//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// wantDeep is want for an op that takes uint16 images, too. It rejects those
// for which the sampling is not known to be equal to its reference.
func (s sampling) wantDeep(d tensor.Desc) error {
	if !d.IsImage() || d.DType != tensor.Uint16 {
		return s.want(d)
	}
	if err := wantImage(d, tensor.Uint16); err != nil {
		return err
	}
	switch {
	case s.backend != OpenCV:
		return inputErr("%v with backend %v, want uint8 or float32; backend opencv takes uint16", d, s.backend)
	case s.interp == Bicubic || s.interp == Lanczos:
		return inputErr("%v with interpolation %v, want nearest, nearest_exact, bilinear or area: OpenCV adds the products of the others in another order for uint16", d, s.interp)
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
	return resamplerOf(c).resampleUint16(c, s, dst, dense)
}

// resampleUint16 scales a dense uint16 image as cv2.resize does: in float32,
// whose result is rounded half to even and clamped. The mean of 2 x 2 pixels is
// rounded half up in images of 1, 3 and 4 channels, for which OpenCV has
// integer vector code.
func (r *resampler) resampleUint16(c *Context, how sampling, dst, src *tensor.Tensor) error {
	if dst.Shape == src.Shape {
		copy(dst.Data, src.Data)
		return nil
	}
	s, d := shapeOf(src.Desc), shapeOf(dst.Desc)
	if how.interp == Bilinear || how.interp == Area {
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
	if err := r.resample(c, how, b, a); err != nil {
		return err
	}
	for i, v := range tensor.Cast[float32](b.Data) {
		out[i] = uint16(min(max(math.RoundToEven(float64(v)), 0), math.MaxUint16))
	}
	return nil
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
