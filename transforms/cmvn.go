//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// CMVN subtracts the mean of each band of features, and with Var divides by its
// standard deviation, with Kaldi's arithmetic. It takes a float32 matrix of
// frames and bands without a layout, and keeps the description.
//
// The statistics are those of Kaldi's compute-cmvn-stats, which package
// records/kaldi reads: the number of frames, and for each band the sum and the
// sum of squares. If Frames is 0 they are those of the matrix itself, which
// then has at least one frame: squares in float32, sums in float64. The mean is
// sum / Frames and the variance squares / Frames - mean*mean, at least 1e-20,
// in float64. A value becomes x*scale - mean*scale, with both factors rounded
// to float32.
//
// Reference: Kaldi 5.5 apply-cmvn and compute-cmvn-stats (transform/cmvn.cc).
type CMVN struct {
	Var     bool       `json:"var"`     // divide by the standard deviation; default false
	Frames  float64    `json:"frames"`  // 1 or more, or 0 for the statistics of each matrix; default 0
	Sums    NumberList `json:"sums"`    // one for each band; empty if Frames is 0
	Squares NumberList `json:"squares"` // one for each band; may be empty without Var
}

//msgp:tuple CMVN

// NewCMVN returns the op with the statistics of each matrix.
func NewCMVN(variance bool) *CMVN { return &CMVN{Var: variance} }

// Info describes the op.
func (*CMVN) Info() Info {
	return Info{
		Name: "cmvn", Version: 1, New: func() Op { return NewCMVN(false) }, InPlace: true,
		In: soundColumn, Out: soundColumn,
		Reference: "Kaldi 5.5 apply-cmvn, compute-cmvn-stats", Exactness: "0 for the formulas of transform/cmvn.cc without fused multiply-add",
	}
}

// Validate checks the statistics.
func (o *CMVN) Validate() error {
	if !(o.Frames == 0 || o.Frames >= 1 && o.Frames <= math.MaxFloat64) {
		return paramErr("frames is %v, want 0, or 1 or more", o.Frames)
	}
	switch n := len(o.Sums); {
	case (n == 0) != (o.Frames == 0):
		return paramErr("sums has %d values and frames is %v, want both or neither", n, o.Frames)
	case len(o.Squares) != n && (o.Var || len(o.Squares) != 0):
		return paramErr("squares has %d values, want %d as sums", len(o.Squares), n)
	}
	for name, l := range map[string][]float64{"sums": o.Sums, "squares": o.Squares} {
		for i, v := range l {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return paramErr("%s[%d] is %v, want a finite number", name, i, v)
			}
		}
	}
	return nil
}

// Infer keeps the description.
func (o *CMVN) Infer(dst, in []tensor.Desc) error {
	if err := inferMatrix(dst, in); err != nil {
		return err
	}
	frames, bands := in[0].Shape.At(0), in[0].Shape.At(1)
	if o.Frames != 0 && bands != tensor.Unknown && bands != len(o.Sums) {
		return inputErr("%v, want %d bands, as sums has", in[0], len(o.Sums))
	}
	if o.Frames == 0 && frames == 0 {
		return inputErr("%v, want at least one frame", in[0])
	}
	return nil
}

// Apply normalizes.
func (o *CMVN) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	bands, frames := s.Shape.At(1), o.Frames
	sums, squares := []float64(o.Sums), []float64(o.Squares)
	work := tensor.Cast[float64](c.Scratch(8 * 2 * bands))
	if frames == 0 {
		frames = float64(s.Shape.At(0))
		sums, squares = work[:bands], work[bands:2*bands]
		clear(work[:2*bands])
		for i := 0; i < len(in); i += bands {
			for j, x := range in[i : i+bands] {
				sums[j] += float64(x)
				squares[j] += float64(float32(x * x))
			}
		}
	}
	norm := tensor.Cast[float32](c.Scratch(4 * 2 * bands))
	offset, scale := norm[:bands], norm[bands:2*bands]
	for j := range bands {
		mean := sums[j] / frames
		factor := 1.0
		if o.Var {
			factor = 1 / math.Sqrt(max(squares[j]/frames-float64(mean*mean), 1e-20))
		}
		offset[j], scale[j] = float32(-float64(mean*factor)), float32(factor)
	}
	for i := 0; i < len(in); i += bands {
		for j, x := range in[i : i+bands] {
			out[i+j] = offset[j] + float32(x*scale[j])
		}
	}
	return nil
}
