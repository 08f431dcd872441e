//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomMaskSpan sets random consecutive rows or columns of a matrix to Value,
// as SpecAugment's time and frequency masks do. It takes the matrices of
// MaskSpan.
//
// Of n rows or columns, the mask has at most m = Longest, or the lesser of
// Longest and floor(n*Fraction) if Fraction is below 1. Two numbers u and v of
// [0, 1) are drawn: the length is u*m and the start v*(n - u*m), both rounded
// down. A mask without a length draws no op.
//
// Reference: torchaudio 2.11.0's TimeMasking and FrequencyMasking.
type RandomMaskSpan struct {
	Axis     int     `json:"axis"`     // 0 for rows, 1 for columns
	Longest  int     `json:"longest"`  // 0 to 2^29; a mask is shorter than this
	Fraction float64 `json:"fraction"` // of the rows or columns, 0 to 1; default 1
	Value    float64 `json:"value"`    // rounded to float32; default 0
}

//msgp:tuple RandomMaskSpan

// NewRandomMaskSpan returns the op with the value 0.
func NewRandomMaskSpan(axis, longest int) *RandomMaskSpan {
	return &RandomMaskSpan{Axis: axis, Longest: longest, Fraction: 1}
}

// Info describes the op.
func (*RandomMaskSpan) Info() Info {
	return Info{
		Name: "random_mask_span", Version: 1, New: func() Op { return NewRandomMaskSpan(0, 30) },
		In: soundColumn, Out: soundColumn,
		Reference: "torchaudio 2.11.0 TimeMasking, FrequencyMasking", Exactness: randomExactness,
	}
}

// Validate checks the parameters.
func (o *RandomMaskSpan) Validate() error {
	if o.Longest < 0 || o.Longest > maxSequence {
		return paramErr("longest is %d, want 0 to %d", o.Longest, maxSequence)
	}
	if err := checkBounds("fraction", o.Fraction, 0, 1); err != nil {
		return err
	}
	return checkMasked(o.Axis, o.Value)
}

// Infer keeps the description. More rows or columns than Longest must be there.
func (o *RandomMaskSpan) Infer(dst, in []tensor.Desc) error {
	if err := inferMatrix(dst, in); err != nil {
		return err
	}
	if n := in[0].Shape.At(o.Axis); n != tensor.Unknown && o.most(n) > n {
		return inputErr("%v, want at least longest, %d, along axis %d, or a fraction below 1", in[0], o.Longest, o.Axis)
	}
	return nil
}

// most returns the length that no mask of n rows or columns reaches.
func (o *RandomMaskSpan) most(n int) int {
	if o.Fraction == 1 {
		return o.Longest
	}
	return min(o.Longest, int(float64(float64(n)*o.Fraction)))
}

// Apply returns ErrNotDrawn.
func (o *RandomMaskSpan) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a MaskSpan, unless it has no length.
func (o *RandomMaskSpan) Draw(d *Draw) error {
	if d.In[0].Shape.Rank() != 2 {
		return inputErr("%v, want float32 (frames, bands)", d.In[0])
	}
	n := d.In[0].Shape.At(o.Axis)
	if n == tensor.Unknown {
		return inputErr("%v, want a matrix of known size", d.In[0])
	}
	if o.most(n) > n {
		return inputErr("%v, want at least longest, %d, along axis %d, or a fraction below 1", d.In[0], o.Longest, o.Axis)
	}
	length := float64(d.Float64() * float64(o.most(n)))
	start := int(float64(d.Float64() * (float64(n) - length)))
	if int(length) == 0 {
		return nil
	}
	return emitOp(d, MaskSpan{o.Axis, start, int(length), o.Value})
}
