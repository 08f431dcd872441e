package diff

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// HeatMap draws where two images differ. A pixel shows the largest difference
// of its channels, from black (none) over red and yellow to white (the largest
// difference of the image, or one that is not finite). The layouts may differ,
// and either image may have a batch axis of 1.
//
// Two matrices of one shape, such as features of sound, have a pixel for each
// element: the longer axis to the right, the first row of the other at the
// bottom.
func HeatMap(a, b *tensor.Tensor) (image.Image, error) {
	g, okA := imageGeometry(a.Desc)
	o, okB := imageGeometry(b.Desc)
	switch { // a tensor with a layout decides the layout of one without
	case a.Shape == b.Shape && okA && a.Layout != tensor.NoLayout && b.Layout == tensor.NoLayout:
		o, okB = g, true
	case a.Shape == b.Shape && okB && a.Layout == tensor.NoLayout && b.Layout != tensor.NoLayout:
		g, okA = o, true
	}
	matrix := !okA && !okB && a.Shape == b.Shape && a.Shape.Rank() == 2 && a.Len() > 0
	if matrix {
		g = geometry{tensor.HWC, a.Shape.At(0), a.Shape.At(1), 1}
		o, okA, okB = g, true, true
	}
	if !okA || !okB || g.h != o.h || g.w != o.w || g.c != o.c {
		return nil, fmt.Errorf("diff: heat map of %v and %v: want two images of the same size, or two matrices of one shape", a.Desc, b.Desc)
	}
	a, b = dense(a), dense(b)
	at, bt := tensor.Float64s(a), tensor.Float64s(b)
	if at == nil || bt == nil {
		return nil, fmt.Errorf("diff: heat map of %v and %v: want numbers", a.Desc, b.Desc)
	}
	largest := 0.0
	differences := make([]float64, g.h*g.w)
	for y := range g.h {
		for x := range g.w {
			for c := range g.c {
				u, v := at(g.index(y, x, c)), bt(o.index(y, x, c))
				d := math.Abs(u - v)
				if math.IsNaN(d) && u != v && !(math.IsNaN(u) && math.IsNaN(v)) {
					d = math.Inf(1)
				}
				if d > differences[y*g.w+x] {
					differences[y*g.w+x] = d
				}
				if d > largest && !math.IsInf(d, 0) {
					largest = d
				}
			}
		}
	}
	w, h := g.w, g.h
	place := func(y, x int) (int, int) { return x, y }
	switch {
	case matrix && g.h > g.w:
		w, h = g.h, g.w
		place = func(y, x int) (int, int) { return y, h - 1 - x }
	case matrix:
		place = func(y, x int) (int, int) { return x, h - 1 - y }
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range g.h {
		for x := range g.w {
			px, py := place(y, x)
			m.SetNRGBA(px, py, heatColor(differences[y*g.w+x], largest))
		}
	}
	return m, nil
}

// heatColor returns the color of a difference. The smallest difference is
// bright enough to be seen on black.
func heatColor(d, largest float64) color.NRGBA {
	level := 0
	switch {
	case math.IsInf(d, 0):
		level = 3 * 255
	case d > 0:
		level = max(40, int(d/largest*(3*255)))
	}
	part := func(from int) uint8 { return uint8(min(max(level-from, 0), 255)) }
	return color.NRGBA{part(0), part(255), part(2 * 255), 255}
}
