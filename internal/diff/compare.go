// Package diff says where tensors differ, and why: against a tensor that another
// program made of the same image it tries what programs usually do differently.
package diff

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/tensor"
)

// Number is a float64 that JSON can hold: what is no number is a text there.
type Number float64

// MarshalJSON writes NaN and the infinities as texts.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Marshal(f)
}

// Place is an element that differs.
type Place struct {
	// At is its index: of an image (y, x, c), whatever the layout, else in the order of the axes.
	At []int  `json:"at"`
	A  Number `json:"a"`
	B  Number `json:"b"`
}

// Difference is how two tensors differ.
type Difference struct {
	A tensor.Desc `json:"a"`
	B tensor.Desc `json:"b"`
	// Equal: dtype, shape and every bit.
	Equal bool `json:"equal"`
	// Comparable: the shapes are equal, so that there is an element for every element.
	// If they are not, nothing below is set but Hint.
	Comparable bool  `json:"comparable"`
	Elements   int64 `json:"elements"`
	Differ     int64 `json:"differ"` // elements of other values, or other bits
	// NotFinite are those among them whose difference is no finite number.
	NotFinite int64   `json:"not_finite"`
	Max       Number  `json:"max"`  // the largest absolute difference of the others
	Mean      Number  `json:"mean"` // of the absolute differences over all elements but those that are not finite
	Image     bool    `json:"image"`
	Largest   *Place  `json:"largest,omitempty"`
	Places    []Place `json:"places,omitempty"` // the first that differ
	// Hint says what a difference of shapes or dtypes may be.
	Hint string `json:"hint,omitempty"`
}

// Tensors compares two tensors, and tells of at most so many places. Elements of
// two dtypes are compared by value.
func Tensors(a, b *tensor.Tensor, places int) Difference {
	d := Difference{A: a.Desc, B: b.Desc}
	if a.DType == tensor.Bytes || b.DType == tensor.Bytes {
		if d.Equal = a.DType == b.DType && slices.Equal(a.Data, b.Data); !d.Equal && a.DType == b.DType {
			a, b = asUint8(a), asUint8(b)
		}
		if d.Equal || a.DType == tensor.Bytes || b.DType == tensor.Bytes {
			d.Comparable = d.Equal
			return d
		}
	}
	d.Comparable = a.Shape == b.Shape
	if !d.Comparable {
		d.Hint = hint(a.Desc, b.Desc)
		return d
	}
	a, b = dense(a), dense(b)
	at, bt := tensor.Float64s(a), tensor.Float64s(b)
	bits := a.DType == b.DType
	size := a.DType.Size()
	d.Elements = a.Len()
	g, known := ImageOf(a.Desc)
	if !known || a.Layout == tensor.NoLayout && b.Layout != tensor.NoLayout {
		if o, ok := ImageOf(b.Desc); ok {
			g, known = o, true
		}
	}
	d.Image = known
	place := func(i int) Place {
		p := Place{A: Number(at(i)), B: Number(bt(i))}
		if known {
			y, x, c := g.Where(i)
			p.At = []int{y, x, c}
		} else {
			p.At = index(a.Shape, i)
		}
		return p
	}
	sum, largest := 0.0, -1
	for i := range int(d.Elements) {
		if bits {
			if string(a.Data[i*size:][:size]) == string(b.Data[i*size:][:size]) {
				continue
			}
		} else if x, y := at(i), bt(i); x == y || x != x && y != y {
			continue
		}
		d.Differ++
		if len(d.Places) < places {
			d.Places = append(d.Places, place(i))
		}
		diff := math.Abs(at(i) - bt(i))
		if math.IsNaN(diff) || math.IsInf(diff, 0) {
			d.NotFinite++
			continue
		}
		sum += diff
		if largest < 0 || diff > float64(d.Max) {
			largest, d.Max = i, Number(diff)
		}
	}
	if n := d.Elements - d.NotFinite; n > 0 {
		d.Mean = Number(sum / float64(n))
	}
	if largest >= 0 {
		p := place(largest)
		d.Largest = &p
	}
	d.Equal = d.Differ == 0 && a.DType == b.DType
	if d.Differ == 0 && !d.Equal {
		d.Hint = "the values are equal, the dtypes are not"
	}
	return d
}

func asUint8(t *tensor.Tensor) *tensor.Tensor {
	u, err := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(len(t.Data))}, t.Data)
	if err != nil {
		return t
	}
	return u
}

func dense(t *tensor.Tensor) *tensor.Tensor {
	if t.Dense() {
		return t
	}
	return t.Clone()
}

// index is where element i is.
func index(s tensor.Shape, i int) []int {
	at := make([]int, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		at[a] = i % s.At(a)
		i /= s.At(a)
	}
	return at
}

// hint says what two shapes may be of each other.
func hint(a, b tensor.Desc) string {
	x, y := squeeze(a.Shape), squeeze(b.Shape)
	if x == y {
		return "the shapes are equal but for axes of 1 in front"
	}
	p, okP := ImageOf(tensor.Desc{DType: a.DType, Layout: keepLayout(a, x), Shape: x})
	q, okQ := ImageOf(tensor.Desc{DType: b.DType, Layout: keepLayout(b, y), Shape: y})
	switch {
	case okP && okQ && p.Layout != q.Layout && p.H == q.H && p.W == q.W && p.C == q.C:
		return "one is " + p.Layout.String() + ", the other " + q.Layout.String()
	case okP && okQ && p.C == q.C && p.H == q.W && p.W == q.H:
		return "height and width are exchanged"
	case okP && okQ && p.H == q.H && p.W == q.W:
		return "the numbers of channels differ"
	case okP && okQ:
		return "the images have other sizes"
	}
	return ""
}

func keepLayout(d tensor.Desc, s tensor.Shape) tensor.Layout {
	if s.Rank() != 3 {
		return tensor.NoLayout
	}
	return d.Layout
}

// squeeze is a shape without axes of 1 in front, down to three.
func squeeze(s tensor.Shape) tensor.Shape {
	for s.Rank() > 3 && s.At(0) == 1 {
		s = tensor.Dims(s.Slice()[1:]...)
	}
	return s
}

// Geometry is how the elements of an image lie.
type Geometry struct {
	Layout  tensor.Layout
	H, W, C int
}

// ImageOf is the geometry of what is an image: by its layout, or, as files tell
// none, where one axis of three is that of 1, 3 or 4 channels; axes of 1 before the
// three are a batch of one.
func ImageOf(d tensor.Desc) (g Geometry, ok bool) {
	if d.IsImage() {
		return Geometry{d.Layout, d.Height(), d.Width(), d.Channels()}, true
	}
	s := squeeze(d.Shape)
	if s.Rank() != 3 {
		return g, false
	}
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	a, b, c := s.At(0), s.At(1), s.At(2)
	switch {
	case channels(c) && !(channels(a) && a == 3 && c != 3):
		return Geometry{tensor.HWC, a, b, c}, true
	case channels(a):
		return Geometry{tensor.CHW, b, c, a}, true
	}
	return g, false
}

// Where is the pixel and the channel of element i.
func (g Geometry) Where(i int) (y, x, c int) {
	if g.Layout == tensor.CHW {
		return i / g.W % g.H, i % g.W, i / (g.H * g.W)
	}
	return i / (g.W * g.C), i / g.C % g.W, i % g.C
}

// Index is the element of a pixel's channel.
func (g Geometry) Index(y, x, c int) int {
	if g.Layout == tensor.CHW {
		return (c*g.H+y)*g.W + x
	}
	return (y*g.W+x)*g.C + c
}
