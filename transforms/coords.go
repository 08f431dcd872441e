package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// CoordFormat is the meaning of the first values of the last axis of a tensor
// of points or boxes, in pixels or as fractions of a side. Further values, such
// as a score, belong to no format.
type CoordFormat uint8

// The formats.
const (
	CoordXY       CoordFormat = iota // a point: x, y
	CoordXYXY                        // a box: left, top, right, bottom
	CoordCXCYWH                      // a box: x and y of the centre, width, height
	CoordLTWH                        // a box: left, top, width, height
	CoordLTWHR                       // a rotated box: x and y of its first corner, width, height, angle in degrees
	CoordCXCYWHR                     // a rotated box: x and y of the centre, width, height, angle in degrees
	CoordXYXYXYXY                    // a rotated box: x and y of its four corners, clockwise from the top left
	CoordRelative                    // a box: left, top, right, bottom as fractions of the image's width and height; for roles and MXNet's ops only
)

var coordFormatNames = []string{"xy", "xyxy", "cxcywh", "ltwh", "ltwhr", "cxcywhr", "xyxyxyxy", "relative"}

// uprightNames are the formats in pixels without an angle.
var uprightNames = coordFormatNames[:CoordLTWHR]

// pixelFormats are the names of the formats in pixels.
var pixelFormats = coordFormatNames[:CoordRelative]

func (f CoordFormat) String() string { return enum.String("coordinate format", coordFormatNames, f) }

// MarshalText returns the name.
func (f CoordFormat) MarshalText() ([]byte, error) {
	return enum.Format("coordinate format", coordFormatNames, f)
}

// UnmarshalText parses the name.
func (f *CoordFormat) UnmarshalText(t []byte) error {
	return enum.Parse(f, "coordinate format", coordFormatNames, t)
}

// values returns the number of values of a format.
func (f CoordFormat) values() int {
	switch {
	case f == CoordXY:
		return 2
	case f < CoordLTWHR, f == CoordRelative:
		return 4
	case f < CoordXYXYXYXY:
		return 5
	}
	return 8
}

// positions returns how many values of a format are positions. The others are
// lengths, which moving the box does not change.
func (f CoordFormat) positions() int {
	if f == CoordXYXY || f == CoordXYXYXYXY || f == CoordRelative {
		return f.values()
	}
	return 2
}

// wantCoords rejects all but points or boxes of a format.
func wantCoords(d tensor.Desc, f CoordFormat) error {
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() == 0 {
		return inputErr("%v, want float32 without layout, with %v on the last axis", d, f)
	}
	if n := d.Shape.At(d.Shape.Rank() - 1); n != tensor.Unknown && n < f.values() {
		return inputErr("%v, want at least %d values on the last axis for %v", d, f.values(), f)
	}
	return nil
}

// wantNumbers rejects all but a vector of an admitted length, of dtype int32,
// int64 or float32. The vector may also be one of several, a row for each
// element of the first axis of coords.
func wantNumbers(d, coords tensor.Desc, name string, longer bool) error {
	if err := d.Validate(); err != nil {
		return inputErr("%s: %v", name, err)
	}
	rank := d.Shape.Rank()
	text := "2 values"
	if longer {
		text = "2 or 4 values"
	}
	if !isNumber(d.DType) || d.Layout != tensor.NoLayout || rank < 1 || rank > 2 {
		return inputErr("%s is %v, want %s of int32, int64 or float32, or a row of them for each element of the first axis", name, d, text)
	}
	if n := d.Shape.At(rank - 1); n != tensor.Unknown && n != 2 && !(longer && n == 4) {
		return inputErr("%s is %v, want %s", name, d, text)
	}
	if rank == 1 {
		return nil
	}
	if coords.Shape.Rank() < 2 {
		return inputErr("%s is %v, but %v has no axis for its rows: want one vector", name, d, coords)
	}
	if n, m := d.Shape.At(0), coords.Shape.At(0); n != tensor.Unknown && m != tensor.Unknown && n != m {
		return inputErr("%s has %d rows, want one for each of the %d elements of the first axis", name, n, m)
	}
	return nil
}

func isNumber(d tensor.DType) bool {
	return d == tensor.Int32 || d == tensor.Int64 || d == tensor.Float32
}

// inferCoords is Infer of an op on coordinates and a vector.
func inferCoords(dst, in []tensor.Desc, f CoordFormat, name string, longer bool) error {
	if err := wantCoords(in[0], f); err != nil {
		return err
	}
	if err := wantNumbers(in[1], in[0], name, longer); err != nil {
		return err
	}
	dst[0] = in[0]
	return nil
}

// coordRows copies src[0] to dst[0] and calls f for every row of the last axis
// of dst[0] with the values of its vector in src[1]. Two values are a height
// and a width, or a row and a column; four are the sides of a padding: top,
// bottom, left, right. f gets the vertical and the horizontal one of them.
func coordRows(c *Context, dst, src []*tensor.Tensor, name string, f func(row []float32, y, x float32) error) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	v, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	out := tensor.View[float32](dst[0])
	copy(dst[0].Data, s.Data)
	n := v.Shape.At(v.Shape.Rank() - 1)
	groups := 1
	if v.Shape.Rank() == 2 {
		groups = v.Shape.At(0)
	}
	for g := range groups {
		var values [4]float64
		loadFloats(values[:n], v, g*n)
		for i, x := range values[:n] {
			if math.IsNaN(x) || x < -maxSide || x > maxSide {
				return inputErr("%s[%d] is %v, want -%d to %[4]d", name, g*n+i, x, maxSide)
			}
		}
		y, x := values[0], values[1]
		if n == 4 {
			x = values[2]
		}
		width := s.Shape.At(s.Shape.Rank() - 1)
		rows := out[len(out)/groups*g:][:len(out)/groups]
		for ; len(rows) > 0; rows = rows[width:] {
			if err := f(rows[:width], float32(y), float32(x)); err != nil {
				return err
			}
		}
	}
	return nil
}

// wantSize rejects all but two numbers of int32 or int64.
func wantSize(d tensor.Desc, name string) error {
	if err := d.Validate(); err != nil {
		return inputErr("%s: %v", name, err)
	}
	if d.DType != tensor.Int32 && d.DType != tensor.Int64 || d.Layout != tensor.NoLayout || d.Shape.Rank() != 1 ||
		d.Shape.At(0) != 2 && d.Shape.At(0) != tensor.Unknown {
		return inputErr("%s is %v, want height and width as int32 or int64 (2)", name, d)
	}
	return nil
}

// sizeOf reads a height and a width.
func sizeOf(c *Context, t *tensor.Tensor, name string) (h, w int, err error) {
	d, err := c.Dense(t)
	if err != nil {
		return 0, 0, err
	}
	if d.Shape.At(0) != 2 {
		return 0, 0, inputErr("%s is %v, want height and width", name, d.Desc)
	}
	var v [2]int64
	loadInts(v[:], d, 0)
	if v[0] < 1 || v[0] > maxSide || v[1] < 1 || v[1] > maxSide {
		return 0, 0, inputErr("%s is %d x %d (height x width), want sides of 1 to %d", name, v[0], v[1], maxSide)
	}
	return int(v[0]), int(v[1]), nil
}
