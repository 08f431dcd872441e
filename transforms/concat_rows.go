package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Omit is an input that ConcatRows leaves out.
type Omit uint8

// The inputs.
const (
	OmitNone   Omit = iota // keep both inputs
	OmitFirst              // leave out the first input if the second has one row
	OmitSecond             // leave out the second input if the first has one row
)

var omitNames = []string{"none", "first", "second"}

func (o Omit) String() string { return enum.String("omit", omitNames, o) }

// MarshalText returns the name.
func (o Omit) MarshalText() ([]byte, error) { return enum.Format("omit", omitNames, o) }

// UnmarshalText parses the name.
func (o *Omit) UnmarshalText(t []byte) error { return enum.Parse(o, "omit", omitNames, t) }

// ConcatRows joins two tensors along the first axis, such as the tiles of an
// image and its thumbnail. An image counts as one row, whose axes are those of
// a tile. The inputs have the same dtype of fixed size and, without the first
// axis, the same shape. The output has no layout. No value changes.
//
// Reference: NumPy 2.4.6, concatenate.
type ConcatRows struct {
	// Omit is the input that is left out if the other one has a single row: a
	// thumbnail of an image that is one tile. Default none.
	Omit Omit `json:"omit"`
}

//msgp:tuple ConcatRows

// NewConcatRows returns the op that keeps both inputs.
func NewConcatRows() *ConcatRows { return &ConcatRows{} }

// Info describes the op.
func (*ConcatRows) Info() Info {
	return Info{
		Name: "concat_rows", Version: 1, New: func() Op { return NewConcatRows() },
		In:        []string{"first", "second"},
		Reference: "NumPy 2.4.6 concatenate", Exactness: "0",
	}
}

// Validate checks Omit.
func (o *ConcatRows) Validate() error { return checkEnum("omit", o.Omit, omitNames) }

// rowsOf describes an image as one row.
func rowsOf(d tensor.Desc) (tensor.Desc, error) {
	if d.IsImage() {
		if err := wantImage(d); err != nil {
			return d, err
		}
		return tiled(d, 1), nil
	}
	return d, wantTiles(d)
}

// Infer adds the numbers of rows.
func (o *ConcatRows) Infer(dst, in []tensor.Desc) error {
	a, err := rowsOf(in[0])
	if err != nil {
		return err
	}
	b, err := rowsOf(in[1])
	if err != nil {
		return err
	}
	n, m := a.Shape.At(0), b.Shape.At(0)
	same := a.DType == b.DType && a.Shape.Rank() == b.Shape.Rank()
	for i := 1; same && i < a.Shape.Rank(); i++ {
		x, y := a.Shape.At(i), b.Shape.At(i)
		if x == tensor.Unknown {
			a.Shape = a.Shape.With(i, y)
		}
		same = x == y || x == tensor.Unknown || y == tensor.Unknown
	}
	if !same {
		return inputErr("%v and %v, want the same dtype and the same shape after the first axis", in[0], in[1])
	}
	rows := n + m
	switch {
	case o.Omit == OmitSecond && n == 1:
		rows = n
	case o.Omit == OmitFirst && m == 1:
		rows = m
	case n == tensor.Unknown || m == tensor.Unknown:
		rows = tensor.Unknown
	case rows < 0: // overflow
		return inputErr("%v and %v have too many rows", in[0], in[1])
	}
	dst[0] = a
	dst[0].Shape = a.Shape.With(0, rows)
	return inferred(dst[0])
}

// Kept follows Omit.
func (o *ConcatRows) Kept(a, b tensor.Desc) (first, second bool) {
	return o.Omit != OmitFirst || rowCount(b) != 1, o.Omit != OmitSecond || rowCount(a) != 1
}

// Apply copies the rows.
func (o *ConcatRows) Apply(c *Context, dst, src []*tensor.Tensor) error {
	a, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	first, second := o.Kept(a.Desc, b.Desc)
	n := 0
	if first {
		n = copy(dst[0].Data, a.Data)
	}
	if second {
		copy(dst[0].Data[n:], b.Data)
	}
	return nil
}

// rowCount returns the number of rows: 1 for an image.
func rowCount(d tensor.Desc) int {
	if d.IsImage() {
		return 1
	}
	return d.Shape.At(0)
}
