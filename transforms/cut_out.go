package transforms

import "github.com/infer-prep/infer-prep/tensor"

// CutOut overwrites random squares of an image with 0. It takes any dtype of
// fixed size, HWC or CHW, and keeps both. A side of the image below Length is
// an ErrInput.
//
// Reference: MindSpore 2.10.0's vision.CutOut. For each square, the first row
// is drawn uniformly from -Length to the image's height, both included, then
// the first column from -Length to the width. The part of the square within the
// image is erased; there may be none.
type CutOut struct {
	Length  int `json:"length"`  // side of a square in pixels, 1 to 2^24
	Patches int `json:"patches"` // number of squares, 1 to 1024; default 1
}

//msgp:tuple CutOut
//sheet:cut_out {"length": 24, "patches": 3}

// maxPatches bounds the squares of CutOut.
const maxPatches = 1024

// cutOutValue is the value of all emitted ops.
var cutOutValue = []float64{0}

// NewCutOut returns the op for one square.
func NewCutOut(length int) *CutOut { return &CutOut{Length: length, Patches: 1} }

// Info describes the op.
func (*CutOut) Info() Info {
	return Info{
		Name: "cut_out", Version: 1, New: func() Op { return NewCutOut(16) },
		Reference: "MindSpore 2.10.0 vision.CutOut (distribution of the draws)", Exactness: randomExactness,
	}
}

// Validate checks the length and the number of squares.
func (o *CutOut) Validate() error {
	if err := checkSide("length", o.Length); err != nil {
		return err
	}
	if o.Patches < 1 || o.Patches > maxPatches {
		return paramErr("patches is %d, want 1 to %d", o.Patches, maxPatches)
	}
	return nil
}

// Infer keeps the description.
func (o *CutOut) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0]); err != nil {
		return err
	}
	return wantBox(in[0], 0, 0, o.Length, o.Length)
}

// Apply returns ErrNotDrawn.
func (o *CutOut) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits an Erase for each square that meets the image.
func (o *CutOut) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	for range o.Patches {
		top, height := drawCut(d, o.Length, h)
		left, width := drawCut(d, o.Length, w)
		if height == 0 || width == 0 {
			continue
		}
		if err := emitOp(d, Erase{top, left, height, width, cutOutValue}); err != nil {
			return err
		}
	}
	return nil
}

// drawCut draws where a square lies along an axis of n pixels, and returns the
// part within the image.
func drawCut(d *Draw, length, n int) (from, size int) {
	start := d.IntN(n+length+1) - length
	from = max(start, 0)
	return from, min(start+length, n) - from
}
