package tokens

import (
	"fmt"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// scaled returns the size of an image of h x w pixels after op.
func scaled(op transforms.Op, h, w int) (height, width int, err error) {
	if err := op.Validate(); err != nil {
		return 0, 0, err
	}
	in := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(h, w, 3), Layout: tensor.HWC}
	out := make([]tensor.Desc, max(len(op.Info().Out), 1))
	if err := op.Infer(out, []tensor.Desc{in}); err != nil {
		return 0, 0, err
	}
	height, width = out[0].Height(), out[0].Width()
	if times(height, width) == maxCount {
		return 0, 0, fmt.Errorf("an image of %d x %d (height x width) is resized to %d x %d, want less than %d pixels", h, w, height, width, maxCount)
	}
	return height, width, nil
}

// grid returns the rows and columns of the tiles that r cuts.
func grid(r *transforms.ResizeToTiles, h, w int) (rows, columns int, err error) {
	height, width, err := scaled(r, h, w)
	return height / r.Height, width / r.Width, err
}

// maxCount is the largest number of pixels, patches or tokens. It keeps ints in
// 32 bits.
const maxCount = math.MaxInt32

// times returns the product of numbers of at least 0, at most maxCount.
func times(n ...int) int {
	p := 1
	for _, v := range n {
		if v != 0 && p > maxCount/v {
			return maxCount
		}
		p *= v
	}
	return p
}

// rounded returns int(round(x, 7)) of Python.
func rounded(x float64) int {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 7, 64), 64)
	return int(f)
}

// floored returns x // y of Python for positive numbers: the floor of the exact
// quotient.
func floored(x, y float64) int {
	q := (x - math.Mod(x, y)) / y
	n := math.Floor(q)
	if q-n > 0.5 {
		n++
	}
	return int(n)
}

// misread returns the size that transformers sees in an array of h x w x 3.
// infer_channel_dimension_format takes a first axis of 1 or 3 for the channels,
// and so the image for one of w x 3.
func misread(h, w int) (int, int) {
	if h == 1 || h == 3 {
		return w, 3
	}
	return h, w
}
