package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// ResizeBilinear11 scales the longer edge of an image to Edge, bilinear and
// without antialiasing, with weights of 11 bits. The sides are Python's
// round(side * Edge / longer edge). It takes uint8 of any number of channels,
// HWC or CHW, and keeps layout and channels.
//
// Coordinates are float32, at (i+0.5)*scale-0.5. A weight w becomes
// floor(w*2048+0.5). The four weighted pixels are added exactly, and the sum is
// rounded once, half up. OpenCV's bilinear has the same weights, but drops bits
// between the passes.
//
// Reference: transformers 5.23.0, SLANeXtImageProcessor._resize.
type ResizeBilinear11 struct {
	Edge int `json:"edge"` // length of the longer edge in pixels, 1 to 2^24
}

//msgp:tuple ResizeBilinear11

// NewResizeBilinear11 returns the op that scales the longer edge to edge.
func NewResizeBilinear11(edge int) *ResizeBilinear11 { return &ResizeBilinear11{Edge: edge} }

// Info describes the op.
func (*ResizeBilinear11) Info() Info {
	return Info{
		Name: "resize_bilinear11", Version: 1, New: func() Op { return NewResizeBilinear11(512) },
		Reference: "transformers 5.23.0 SLANeXtImageProcessor", Exactness: "0",
	}
}

// Validate checks the edge.
func (o *ResizeBilinear11) Validate() error { return checkSide("edge", o.Edge) }

func (o *ResizeBilinear11) fit() *Resize {
	return &Resize{Fit: FitLongest, Edge: o.Edge, SizeRule: SizeScale}
}

// Infer sets the size.
func (o *ResizeBilinear11) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	return inferSized(dst, in, sampling{}, o.fit().sized)
}

// bilinear11Axis fills left with the first of two neighbouring pixels of each
// output, and right with the weight of the second one. An axis of one pixel has
// no second one: left is then 0.
func bilinear11Axis(left, right []int32, in int) {
	scale := float32(float64(in) / float64(len(left)))
	for i := range left {
		at := float32((float32(i)+0.5)*scale) - 0.5
		floor := float32(math.Floor(float64(at)))
		part := at - floor
		if floor < 0 {
			floor, part = 0, 0
		}
		if floor >= float32(in-1) {
			floor, part = float32(max(in-2, 0)), 1
		}
		left[i] = int32(floor)
		right[i] = int32(math.Floor(float64(float32(part*2048) + 0.5)))
	}
}

// Apply scales.
func (o *ResizeBilinear11) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := shapeOf(s.Desc), shapeOf(dst[0].Desc)
	table := tensor.Cast[int32](c.Scratch((out.h + out.w) * 2 * 4))
	ys, yw := table[:out.h], table[out.h:][:out.h]
	xs, xw := table[2*out.h:][:out.w], table[2*out.h+out.w:][:out.w]
	bilinear11Axis(ys, yw, in.h)
	bilinear11Axis(xs, xw, in.w)
	line, row, col := in.w*in.ch, min(1, in.h-1)*in.w*in.ch, min(1, in.w-1)*in.ch
	to := dst[0].Data
	for p := range in.planes {
		plane := s.Data[p*in.h*line:][:in.h*line]
		for y := range out.h {
			top := plane[int(ys[y])*line:]
			b := yw[y]
			t := 2048 - b
			for x := range out.w {
				r := xw[x]
				l := 2048 - r
				at := int(xs[x]) * in.ch
				for ch := range in.ch {
					i := at + ch
					a := l*int32(top[i]) + r*int32(top[i+col])
					d := l*int32(top[i+row]) + r*int32(top[i+row+col])
					to[0] = uint8((t*a + b*d + 1<<21) >> 22)
					to = to[1:]
				}
			}
		}
	}
	return nil
}

// Move scales a column, a mask with the nearest of backend opencv.
func (o *ResizeBilinear11) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return moveResize[ResizeBilinear11](d, o, r, sampling{Bilinear, OpenCV, true}, from, to)
}
