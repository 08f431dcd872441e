package diff

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// Heat draws where two images differ: of each pixel the largest difference of its
// channels, from black (none) over red and yellow to white (the largest of all, or
// one that is not finite). Layouts may differ, and one may have a batch axis of 1.
func Heat(a, b *tensor.Tensor) (image.Image, error) {
	g, okA := ImageOf(a.Desc)
	o, okB := ImageOf(b.Desc)
	switch { // what has a layout tells what the other one is, if it has none
	case a.Shape == b.Shape && okA && a.Layout != tensor.NoLayout && b.Layout == tensor.NoLayout:
		o, okB = g, true
	case a.Shape == b.Shape && okB && a.Layout == tensor.NoLayout && b.Layout != tensor.NoLayout:
		g, okA = o, true
	}
	if !okA || !okB || g.H != o.H || g.W != o.W || g.C != o.C {
		return nil, fmt.Errorf("no map of the differences of %v and %v, want images of one size", a.Desc, b.Desc)
	}
	a, b = dense(a), dense(b)
	at, bt := tensor.Float64s(a), tensor.Float64s(b)
	if at == nil || bt == nil {
		return nil, fmt.Errorf("no map of differences of %v and %v, want numbers", a.Desc, b.Desc)
	}
	most := 0.0
	by := make([]float64, g.H*g.W)
	for y := range g.H {
		for x := range g.W {
			for c := range g.C {
				u, v := at(g.Index(y, x, c)), bt(o.Index(y, x, c))
				d := math.Abs(u - v)
				if math.IsNaN(d) && u != v && !(math.IsNaN(u) && math.IsNaN(v)) {
					d = math.Inf(1)
				}
				if d > by[y*g.W+x] {
					by[y*g.W+x] = d
				}
				if d > most && !math.IsInf(d, 0) {
					most = d
				}
			}
		}
	}
	m := image.NewNRGBA(image.Rect(0, 0, g.W, g.H))
	for y := range g.H {
		for x := range g.W {
			m.SetNRGBA(x, y, heat(by[y*g.W+x], most))
		}
	}
	return m, nil
}

// heat is the colour of a difference. The least that there is can still be seen.
func heat(d, most float64) color.NRGBA {
	level := 0
	switch {
	case math.IsInf(d, 0):
		level = 3 * 255
	case d > 0:
		level = max(40, int(d/most*(3*255)))
	}
	part := func(from int) uint8 { return uint8(min(max(level-from, 0), 255)) }
	return color.NRGBA{part(0), part(255), part(2 * 255), 255}
}
