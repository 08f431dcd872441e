package transforms

import "github.com/infer-prep/infer-prep/tensor"

// MatchRows returns the first rows of a tensor, as many as another tensor has.
// A row is an element of the first axis. Both tensors have no layout and any
// dtype of fixed size, which is kept; the other one's values are not read. A
// tensor with fewer rows than the other one is an ErrInput. No value changes.
//
// Reference: NumPy 2.4.6, rows[:len(other)].
type MatchRows struct{}

//msgp:tuple MatchRows

// NewMatchRows returns the op.
func NewMatchRows() *MatchRows { return &MatchRows{} }

// Info describes the op.
func (*MatchRows) Info() Info {
	return Info{
		Name: "match_rows", Version: 1, New: func() Op { return NewMatchRows() },
		In: []string{"rows", "other"}, Out: []string{"rows"},
		Reference: "NumPy 2.4.6 slicing", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *MatchRows) Validate() error { return nil }

// Infer sets the number of rows.
func (o *MatchRows) Infer(dst, in []tensor.Desc) error {
	for _, d := range in {
		if err := wantTiles(d); err != nil {
			return err
		}
	}
	n, most := in[1].Shape.At(0), in[0].Shape.At(0)
	if n != tensor.Unknown && most != tensor.Unknown && n > most {
		return inputErr("%v has %d rows, want at least the %d of %v", in[0], most, n, in[1])
	}
	dst[0] = in[0]
	dst[0].Shape = in[0].Shape.With(0, n)
	return inferred(dst[0])
}

// Apply copies the rows.
func (o *MatchRows) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	return nil
}
