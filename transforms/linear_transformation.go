package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// LinearTransformation subtracts a mean vector from an image and multiplies it
// by a matrix, for example to whiten it. It takes a uint8 or float32 image of D
// values, HWC or CHW, with D the length of Mean. Vector and matrix have the
// order of CHW: channel by channel, row by row.
//
//   - Torch: value j of the output is the sum over i of (v[i]-Mean[i]) *
//     Matrix[i*D+j], in the order of i. All arithmetic is float32 with each
//     operation rounded. The output is float32.
//   - MindSpore: the same in float64. The output is float64.
//
// Reference: torchvision 0.29.2, v2's LinearTransformation with torch 2.15.0 on
// AMD's x86-64 CPUs: Intel's MKL, which torch uses, rounds otherwise on others.
// MindSpore 2.10.0, vision.LinearTransformation of a CHW array with a float64
// matrix: NumPy's BLAS adds in an order of its own, so some values differ in
// the last bits.
type LinearTransformation struct {
	Matrix  NumberList `json:"matrix"`  // row by row, D*D numbers within float32's range
	Mean    NumberList `json:"mean"`    // D numbers within float32's range; D is 1 to 4096
	Backend Backend    `json:"backend"` // torch or mindspore; default torch
}

//msgp:tuple LinearTransformation

// maxTransformed bounds the number of values of a transformed image.
const maxTransformed = 4096

// NewLinearTransformation returns the op with torch's arithmetic. It keeps the
// slices.
func NewLinearTransformation(matrix, mean []float64) *LinearTransformation {
	return &LinearTransformation{matrix, mean, Torch}
}

// Info describes the op.
func (*LinearTransformation) Info() Info {
	return Info{
		Name: "linear_transformation", Version: 1,
		New: func() Op {
			return NewLinearTransformation([]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, []float64{0, 0, 0})
		},
		Reference: "torchvision 0.29.2 v2 LinearTransformation, MindSpore 2.10.0 vision.LinearTransformation",
		Exactness: "0 for torch (AMD's CPUs); 4e-15 of the largest value for mindspore",
	}
}

// Validate checks the lengths, the numbers and the backend.
func (o *LinearTransformation) Validate() error {
	n := len(o.Mean)
	if n < 1 || n > maxTransformed {
		return paramErr("mean has %d values, want 1 to %d", n, maxTransformed)
	}
	if len(o.Matrix) != n*n {
		return paramErr("matrix has %d values, want %d, the square of the mean's", len(o.Matrix), n*n)
	}
	if err := checkValues("mean", o.Mean); err != nil {
		return err
	}
	if err := checkValues("matrix", o.Matrix); err != nil {
		return err
	}
	if o.Backend != Torch && o.Backend != MindSpore {
		return paramErr("backend is %v, want torch or mindspore", o.Backend)
	}
	return nil
}

// Infer sets the dtype.
func (o *LinearTransformation) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if dst[0].DType = tensor.Float32; o.Backend == MindSpore {
		dst[0].DType = tensor.Float64
	}
	if err := wantImage(in[0], tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	n := int64(1)
	for i := range 3 {
		s := in[0].Shape.At(i)
		if s == tensor.Unknown {
			return nil
		}
		if n *= int64(s); n > maxTransformed {
			n = math.MaxInt32
		}
	}
	if n != int64(len(o.Mean)) {
		return inputErr("%v, want an image of %d values, the mean's", in[0], len(o.Mean))
	}
	return nil
}

// Apply adds the rows of the matrix.
func (o *LinearTransformation) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in := s
	if s.DType == tensor.Uint8 {
		d := s.Desc
		d.DType = tensor.Float32
		if in, err = c.Temp(d); err != nil {
			return err
		}
		x := tensor.View[float32](in)
		for i, v := range s.Data[:len(x)] {
			x[i] = float32(v)
		}
	}
	n := len(o.Mean)
	if o.Backend == MindSpore {
		sums := tensor.Cast[float64](c.Scratch(8 * n))
		addRows(sums, o, in)
		spread(dst[0], sums)
		return nil
	}
	sums := tensor.Cast[float32](c.Scratch(4 * n))
	addRows(sums, o, in)
	spread(dst[0], sums)
	return nil
}

// addRows computes the output in the order of CHW.
func addRows[T float32 | float64](sums []T, o *LinearTransformation, src *tensor.Tensor) {
	clear(sums)
	in := tensor.View[float32](src)
	step, next := strides(src.Desc)
	plane := src.Height() * src.Width()
	for i, mean := range o.Mean {
		x := T(in[i/plane*next+i%plane*step]) - T(mean)
		row := o.Matrix[i*len(sums):][:len(sums)]
		for j, m := range row {
			sums[j] += T(x * T(m))
		}
	}
}

// spread copies values in the order of CHW to an image.
func spread[T tensor.Elem](dst *tensor.Tensor, values []T) {
	out := tensor.View[T](dst)
	step, next := strides(dst.Desc)
	plane := dst.Height() * dst.Width()
	for i, v := range values {
		out[i/plane*next+i%plane*step] = v
	}
}
