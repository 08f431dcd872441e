// Package diff finds where two tensors differ, and why.
//
// Compare reports the elements that differ and HeatMap draws them. Explain
// starts from a graph and a tensor that another program made of the same image.
// It tries the mistakes that preprocessing code usually makes, such as BGR
// channels, another library's resize or a missing division by 255, alone and
// together. It names those that make the graph's output equal to the other
// tensor, or that each explain most of the difference. ExplainAll does so for
// many images.
package diff

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/tensor"
)

// Number is a float64 whose JSON form is a string if it is NaN or infinite.
type Number float64

// MarshalJSON writes NaN and the infinities as strings.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return json.Marshal(f)
}

// Place is an element that differs.
type Place struct {
	// At is the index of the element: (y, x, c) for images, whatever their
	// layout, else one index for each axis.
	At []int  `json:"at"`
	A  Number `json:"a"`
	B  Number `json:"b"`
}

// Difference describes how two tensors differ.
type Difference struct {
	A tensor.Desc `json:"a"`
	B tensor.Desc `json:"b"`
	// Equal reports that dtype, shape and every bit are equal.
	Equal bool `json:"equal"`
	// Comparable reports that the shapes are equal. If it is false, Hint is the
	// only field below that may be set.
	Comparable bool  `json:"comparable"`
	Elements   int64 `json:"elements"`
	// Differ is the number of elements that differ in value or in bits.
	Differ int64 `json:"differ"`
	// NotFinite is the number of differing elements whose difference is NaN or
	// infinite.
	NotFinite int64 `json:"not_finite"`
	// Max is the largest finite absolute difference.
	Max Number `json:"max"`
	// Mean is the mean absolute difference of all elements except NotFinite.
	Mean Number `json:"mean"`
	// Image reports that the places are (y, x, c).
	Image bool `json:"image"`
	// Largest is the place of Max, nil if no finite difference exists.
	Largest *Place `json:"largest,omitempty"`
	// Places are the first elements that differ, in memory order.
	Places []Place `json:"places,omitempty"`
	// Hint suggests what a difference of shapes or dtypes means. It may be
	// empty.
	Hint string `json:"hint,omitempty"`
}

// Compare compares two tensors and lists at most maxPlaces elements that
// differ. Elements of one dtype are compared by their bits, elements of two
// dtypes by their values.
func Compare(a, b *tensor.Tensor, maxPlaces int) Difference {
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
		d.Hint = shapeHint(a.Desc, b.Desc)
		return d
	}
	a, b = dense(a), dense(b)
	d.Elements = a.Len()
	g, known := imageGeometry(a.Desc)
	if !known || a.Layout == tensor.NoLayout && b.Layout != tensor.NoLayout {
		if o, ok := imageGeometry(b.Desc); ok {
			g, known = o, true
		}
	}
	d.Image = known
	d.compareElements(a, b, maxPlaces, func(i int) []int {
		if known {
			y, x, c := g.pixel(i)
			return []int{y, x, c}
		}
		return axisIndex(a.Shape, i)
	})
	d.Equal = d.Differ == 0 && a.DType == b.DType
	if d.Differ == 0 && !d.Equal {
		d.Hint = "the values are equal, the dtypes are not"
	}
	return d
}

// compareElements fills the statistics and places of two dense tensors of one
// shape. where returns the index of an element as Place reports it.
func (d *Difference) compareElements(a, b *tensor.Tensor, maxPlaces int, where func(i int) []int) {
	at, bt := tensor.Float64s(a), tensor.Float64s(b)
	bits := a.DType == b.DType
	size := a.DType.Size()
	place := func(i int) Place { return Place{At: where(i), A: Number(at(i)), B: Number(bt(i))} }
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
		if len(d.Places) < maxPlaces {
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

// axisIndex returns the index of element i in the order of the axes.
func axisIndex(s tensor.Shape, i int) []int {
	at := make([]int, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		at[a] = i % s.At(a)
		i /= s.At(a)
	}
	return at
}

// shapeHint suggests how two different shapes are related.
func shapeHint(a, b tensor.Desc) string {
	x, y := squeeze(a.Shape), squeeze(b.Shape)
	if x == y {
		return "the shapes are equal except for leading axes of 1"
	}
	p, okP := imageGeometry(tensor.Desc{DType: a.DType, Layout: keepLayout(a, x), Shape: x})
	q, okQ := imageGeometry(tensor.Desc{DType: b.DType, Layout: keepLayout(b, y), Shape: y})
	switch {
	case okP && okQ && p.layout != q.layout && p.h == q.h && p.w == q.w && p.c == q.c:
		return "one is " + p.layout.String() + ", the other " + q.layout.String()
	case okP && okQ && p.c == q.c && p.h == q.w && p.w == q.h:
		return "height and width are swapped"
	case okP && okQ && p.h == q.h && p.w == q.w:
		return "the numbers of channels differ"
	case okP && okQ:
		return "the image sizes differ"
	}
	return ""
}

func keepLayout(d tensor.Desc, s tensor.Shape) tensor.Layout {
	if s.Rank() != 3 {
		return tensor.NoLayout
	}
	return d.Layout
}

// squeeze removes leading axes of 1 until three axes are left.
func squeeze(s tensor.Shape) tensor.Shape {
	for s.Rank() > 3 && s.At(0) == 1 {
		s = tensor.Dims(s.Slice()[1:]...)
	}
	return s
}

// geometry describes how the elements of an image lie in memory.
type geometry struct {
	layout  tensor.Layout
	h, w, c int
}

// imageGeometry returns the geometry of a tensor that is an image. Files don't
// store a layout, so a tensor without one counts as an image if it has three
// axes and one of them is 1, 3 or 4 channels. Leading axes of 1 are a batch of
// one.
func imageGeometry(d tensor.Desc) (g geometry, ok bool) {
	if d.IsImage() {
		return geometry{d.Layout, d.Height(), d.Width(), d.Channels()}, true
	}
	s := squeeze(d.Shape)
	if s.Rank() != 3 {
		return g, false
	}
	channels := func(n int) bool { return n == 1 || n == 3 || n == 4 }
	a, b, c := s.At(0), s.At(1), s.At(2)
	switch {
	case channels(c) && !(channels(a) && a == 3 && c != 3):
		return geometry{tensor.HWC, a, b, c}, true
	case channels(a):
		return geometry{tensor.CHW, b, c, a}, true
	}
	return g, false
}

// pixel returns the pixel and channel of element i.
func (g geometry) pixel(i int) (y, x, c int) {
	if g.layout == tensor.CHW {
		return i / g.w % g.h, i % g.w, i / (g.h * g.w)
	}
	return i / (g.w * g.c), i / g.c % g.w, i % g.c
}

// index returns the element of a pixel's channel.
func (g geometry) index(y, x, c int) int {
	if g.layout == tensor.CHW {
		return (c*g.h+y)*g.w + x
	}
	return (y*g.w+x)*g.c + c
}
