package transforms

import "github.com/infer-prep/infer-prep/tensor"

// OneHot turns a label of 0 to Classes-1 into a vector of Classes numbers: 1 at
// the label's index, else 0. It takes one label of any integer dtype, as a
// scalar or a vector of one. A vector of several labels returns one row per
// label. A label out of range is an ErrInput of Apply.
//
// With a Smoothing r of 0 the output keeps the dtype. Otherwise the output is
// float64, with r/Classes in place of 0 and 1 - r + r/Classes in place of 1.
//
// Reference: MindSpore 2.10.0, transforms.OneHot.
type OneHot struct {
	Classes   int     `json:"classes"`   // 1 to 2^24; without smoothing at most what the dtype can represent
	Smoothing float64 `json:"smoothing"` // 0 to 1; default 0
}

//msgp:tuple OneHot

// NewOneHot returns the op without smoothing.
func NewOneHot(classes int) *OneHot { return &OneHot{Classes: classes} }

// Info describes the op.
func (*OneHot) Info() Info {
	label := []string{"label"}
	return Info{
		Name: "one_hot", Version: 1, New: func() Op { return NewOneHot(1000) }, In: label, Out: label,
		Reference: "MindSpore 2.10.0 transforms.OneHot", Exactness: "0",
	}
}

// Validate checks the range of the parameters.
func (o *OneHot) Validate() error {
	if err := checkSide("classes", o.Classes); err != nil {
		return err
	}
	if !(o.Smoothing >= 0 && o.Smoothing <= 1) {
		return paramErr("smoothing is %v, want 0 to 1", o.Smoothing)
	}
	return nil
}

// Infer adds an axis of Classes.
func (o *OneHot) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if _, _, ok := intRange(in[0].DType); !ok || in[0].DType == tensor.Bool {
		return inputErr("%v, want an integer dtype", in[0])
	}
	dst[0] = tensor.Desc{DType: in[0].DType, Shape: tensor.Dims(o.Classes)}
	switch s := in[0].Shape; {
	case s.Rank() > 1 || s.Rank() == 1 && s.At(0) < 1:
		return inputErr("%v, want a scalar label or a vector of labels", in[0])
	case s.Rank() == 1 && s.At(0) > 1:
		dst[0].Shape = tensor.Dims(s.At(0), o.Classes)
	}
	if o.Smoothing != 0 {
		dst[0].DType = tensor.Float64
	}
	return inferred(dst[0])
}

// Apply writes the rows.
func (o *OneHot) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	clear(dst[0].Data)
	var one []float64
	if o.Smoothing != 0 {
		one = tensor.View[float64](dst[0])
		off := o.Smoothing / float64(o.Classes)
		for i := range one {
			one[i] = off
		}
	}
	var label [1]int64
	for i := range int(s.Len()) {
		loadInts(label[:], s, i)
		if label[0] < 0 || label[0] >= int64(o.Classes) {
			return inputErr("label %d at %d, want 0 to %d", label[0], i, o.Classes-1)
		}
		at := i*o.Classes + int(label[0])
		if o.Smoothing != 0 {
			one[at] = 1 - o.Smoothing + o.Smoothing/float64(o.Classes)
		} else {
			putNumber(dst[0].Data[at*s.DType.Size():], s.DType, 1)
		}
	}
	return nil
}
