package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// rankFilter is what GiftMedian, GiftMinimum and GiftMaximum compute.
type rankFilter uint8

const (
	rankMedian rankFilter = iota
	rankMin
	rankMax
)

// apply filters plane by plane. It keeps the rows of the window in a ring, with
// the border pixels repeated at the ends. For the maximum it keeps their
// complements.
func (r rankFilter) apply(c *Context, dst, src *tensor.Tensor, size int, disk bool) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	g := gridOf(s.Desc)
	n, half := g.width*g.pixel, size/2
	slot := n + 2*half*g.pixel
	rows, spare := c.Scratch(size*slot), c.Scratch(slot)
	window := kernel.Window{Radius: half, Half: tensor.Cast[int64](c.Scratch(8 * size)), At: tensor.Cast[int64](c.Scratch(8 * size))}
	window.SetSquare()
	if disk {
		window.SetDisk()
	}
	flip := uint8(0)
	if r == rankMax {
		flip = 0xff
	}
	for p := range g.planes {
		done := 0
		for y := range g.height {
			for ; done <= min(y+half, g.height-1); done++ {
				padRow(rows[done%size*slot:][:slot], g.row(s.Data, p, done), g.pixel, half, flip)
			}
			for j := range window.At {
				window.At[j] = int64(min(max(y+j-half, 0), g.height-1) % size * slot)
			}
			out := g.row(dst.Data, p, y)
			if r == rankMedian {
				window.Median(out, rows, g.pixel)
				continue
			}
			window.Min(out, rows, spare, g.pixel)
			if flip != 0 {
				for i, v := range out {
					out[i] = ^v
				}
			}
		}
	}
	return nil
}

// padRow copies a row of pixels, exclusive-or flip, between half copies of its
// first and of its last pixel.
func padRow(dst, row []uint8, px, half int, flip uint8) {
	middle := dst[half*px:][:len(row)]
	for i, v := range row {
		middle[i] = v ^ flip
	}
	kernel.RepeatPixel(dst[:half*px], middle[:px])
	kernel.RepeatPixel(dst[half*px+len(row):], middle[len(row)-px:])
}
