package dataset

import "github.com/infer-prep/infer-prep/tensor"

// common returns a description that both match: differing sizes are Unknown.
func common(a, b tensor.Desc) (tensor.Desc, bool) {
	if a.DType != b.DType || a.Layout != b.Layout || a.Shape.Rank() != b.Shape.Rank() {
		return a, false
	}
	for i := range a.Shape.Rank() {
		if a.Shape.At(i) != b.Shape.At(i) {
			a.Shape = a.Shape.With(i, tensor.Unknown)
		}
	}
	return a, true
}

// batched returns the description of n stacked values. ok is false if they
// cannot be stacked.
func batched(d tensor.Desc, n int) (tensor.Desc, bool) {
	if d.DType == tensor.Bytes || d.Shape.Rank() == tensor.MaxRank {
		return d, false
	}
	s := tensor.Dims(n)
	for i := range d.Shape.Rank() {
		s = s.Append(d.Shape.At(i))
	}
	return tensor.Desc{DType: d.DType, Shape: s}, true
}
