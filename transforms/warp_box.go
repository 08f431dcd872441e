package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// WarpBox cuts the box of a person out of an image, by an affine warp to Height
// x Width. It takes a uint8 image of any number of channels, HWC or CHW, and
// keeps layout and channels. The second input is the box, float64 (4): left,
// top, width and height in pixels of the image. A box whose area is not above 0
// is an ErrInput, and so is one outside float32.
//
// The shorter side of the box grows about its centre until the box has the
// aspect ratio of the output. Both sides then grow by the factor 1.25 *
// 200/Factor. The centres of the corner pixels of the output lie on the corners
// of that box. Pixels outside of the image are 0.
//
// The box and the matrix are computed in float32 and float64, as NumPy does,
// and pixels in float64: (v*y)*x for each of four pixels, added row by row and
// rounded half up.
//
// Reference: transformers 5.23.0, affine_transform of VitPoseImageProcessor,
// with affine_transform (order 1) and inv of SciPy 1.16.3.
type WarpBox struct {
	Height int     `json:"height"` // output height in pixels, 2 to 2^24
	Width  int     `json:"width"`  // output width in pixels, 2 to 2^24
	Factor float64 `json:"factor"` // divides the size of the box, above 0 in float32; default 200, which keeps it
}

//msgp:tuple WarpBox

// NewWarpBox returns the op for an output of height x width.
func NewWarpBox(height, width int) *WarpBox {
	return &WarpBox{Height: height, Width: width, Factor: 200}
}

// Info describes the op.
func (*WarpBox) Info() Info {
	return Info{
		Name: "warp_box", Version: 1, New: func() Op { return NewWarpBox(256, 192) },
		In:        []string{"image", "box"},
		Reference: "transformers 5.23.0 VitPoseImageProcessor with SciPy 1.16.3", Exactness: "0",
	}
}

// Validate checks the size and the factor.
func (o *WarpBox) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if o.Height < 2 || o.Width < 2 {
		return paramErr("height %d and width %d, want at least 2", o.Height, o.Width)
	}
	if o.Factor < 0 {
		return paramErr("factor is %v, want more than 0", o.Factor)
	}
	return checkDivisors("factor", []float64{o.Factor})
}

// Infer sets the size.
func (o *WarpBox) Infer(dst, in []tensor.Desc) error {
	if err := wantSampled(in[0]); err != nil {
		return err
	}
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	if in[1].DType != tensor.Float64 || in[1].Shape != tensor.Dims(4) {
		return inputErr("the box is %v, want float64 (4)", in[1])
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// axes returns the scale and the offset from output to image, for columns and
// rows.
func (o *WarpBox) axes(box []float64) (scale, offset [2]float64, err error) {
	width, height := box[2], box[3]
	aspect := float64(o.Width) / float64(o.Height)
	center := [2]float32{float32(box[0] + float64(width*0.5)), float32(box[1] + float64(height*0.5))}
	if wide := float64(aspect * height); width > wide {
		height = width / aspect
	} else if width < wide {
		width = wide
	}
	out := [2]float64{float64(o.Width) - 1, float64(o.Height) - 1}
	for i, side := range [2]float64{width, height} {
		target := float32(float32(float32(side/o.Factor)*1.25) * 200)
		s := out[i] / float64(target)
		m := float32(s)
		t := float32(s * float64(float32(-0.5*float32(center[i]*2))+float32(0.5*target)))
		inverse := 1 / float64(m)
		scale[i], offset[i] = inverse, -float64(float64(t)*inverse)
		if !(target > 0) || m == 0 || math.IsInf(inverse, 0) || math.IsNaN(offset[i]) || math.IsInf(offset[i], 0) {
			return scale, offset, inputErr("the box is %v, want finite numbers with a width and height above 0", box)
		}
	}
	return scale, offset, nil
}

// tap is a sampling position: a pixel, and the weights of it and of the next
// one. inside is false outside of the image.
type tap struct {
	at     int
	first  float64
	second float64
	inside bool
}

// tapAt returns the sampling position of output i on an axis of n pixels.
func tapAt(i int, scale, offset float64, n int) tap {
	at := float64(float64(i)*scale) + offset
	if !(at >= 0 && at <= float64(n-1)) {
		return tap{}
	}
	floor := math.Floor(at)
	first := 1 - (at - floor)
	return tap{int(floor), first, 1 - first, true}
}

// Apply warps.
func (o *WarpBox) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	scale, offset, err := o.axes(tensor.View[float64](b))
	if err != nil {
		return err
	}
	in, out := shapeOf(s.Desc), shapeOf(dst[0].Desc)
	line := in.w * in.ch
	to := dst[0].Data
	clear(to)
	for p := range in.planes {
		plane := s.Data[p*in.h*line:][:in.h*line]
		for i := range out.h {
			y := tapAt(i, scale[1], offset[1], in.h)
			if !y.inside {
				continue
			}
			top, bottom := plane[y.at*line:], plane[min(y.at+1, in.h-1)*line:]
			for j := range out.w {
				x := tapAt(j, scale[0], offset[0], in.w)
				if !x.inside {
					continue
				}
				l, r := x.at*in.ch, min(x.at+1, in.w-1)*in.ch
				for ch := range in.ch {
					t := float64(float64(float64(top[l+ch])*y.first) * x.first)
					t += float64(float64(float64(top[r+ch])*y.first) * x.second)
					t += float64(float64(float64(bottom[l+ch])*y.second) * x.first)
					t += float64(float64(float64(bottom[r+ch])*y.second) * x.second)
					to[((p*out.h+i)*out.w+j)*in.ch+ch] = uint8(min(t+0.5, 255))
				}
			}
		}
	}
	return nil
}
