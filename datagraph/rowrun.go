package datagraph

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// rowRun is the state of one run of a fused op. Source rows go in through Rows,
// from the top down; output rows are written as soon as their source rows are
// there. Rows between the two passes of a scaling wait in a window, about twice
// as many as one output row depends on.
type rowRun struct {
	*rowTables
	out  output
	body []byte // the memory of the image or its blocks
	next int    // the output row to compute next
	// line is one canvas row. It is nil without a value table: the rows are
	// then written in place.
	line         []byte
	left, inside int    // bytes of a canvas row before the image, and of the image
	fill         []byte // a canvas row of fill; nil if the canvas is the image

	window     rowWindow
	scratch    []byte // of the method
	staged     int    // rows in the stage of tapsMethod
	unmirrored []byte // the image's part of the next row, before it is mirrored
}

// begin starts a run and writes the output rows that show no image.
func (r *rowRun) begin(c *transforms.Context) {
	ch := r.ch
	d := tensor.Image(tensor.Uint8, tensor.HWC, r.canvas.y.n, r.canvas.x.n, ch)
	if t := r.f.table; t != nil {
		d = tensor.Image(t.dtype, t.layout, r.canvas.y.n, r.canvas.x.n, ch)
	}
	r.out.begin(d, r.body, r.f.table, ch)
	if r.f.blocks != nil {
		r.f.blocks.begin(c, &r.out, d)
	}
	r.next, r.window, r.staged = 0, rowWindow{}, 0
	r.left, r.inside = r.canvas.x.lo*ch, r.rowTables.inside()
	r.line = nil
	if r.out.table != nil {
		r.line = c.Scratch(r.canvas.x.n * ch)
	}
	if r.windowLine > 0 {
		r.window.data = c.Scratch(r.capacity * r.windowLine)
	}
	if r.scratchBytes > 0 {
		r.scratch = c.Scratch(r.scratchBytes)
	}
	if r.mirrored {
		r.unmirrored = c.Scratch(r.inside)
	}
	if r.canvas.padded() {
		r.fillAround(c)
	}
}

// fillAround writes the canvas rows above and below the image.
func (r *rowRun) fillAround(c *transforms.Context) {
	r.fill = c.Scratch(r.canvas.x.n * r.ch)
	for i := range r.fill {
		c := i % r.ch
		if r.f.swap {
			c = r.ch - 1 - c
		}
		r.fill[i] = uint8(r.canvas.fill[c%len(r.canvas.fill)])
	}
	for y := range r.canvas.y.n {
		if y < r.canvas.y.lo || y >= r.canvas.y.hi {
			r.out.row(y, r.fill)
		}
	}
	copy(r.line, r.fill)
}

// target returns the memory for the computed pixels of canvas row y. Call done
// once they are written.
func (r *rowRun) target(y int) []byte {
	if r.mirrored {
		return r.unmirrored
	}
	return r.imagePart(y)
}

// imagePart returns the image's part of canvas row y.
func (r *rowRun) imagePart(y int) []byte {
	line := r.line
	if line == nil {
		line = r.out.u8[y*r.out.line:][:r.out.line]
		if r.fill != nil {
			copy(line, r.fill[:r.left])
			copy(line[r.left+r.inside:], r.fill[r.left+r.inside:])
		}
	}
	return line[r.left:][:r.inside]
}

// done finishes canvas row y, whose target is written.
func (r *rowRun) done(y int) {
	if r.mirrored {
		kernel.FlipRow(r.imagePart(y), r.unmirrored, r.ch)
	}
	if r.line != nil {
		r.out.row(y, r.line)
	}
}

// image passes all rows of a dense tensor to Rows.
func (r *rowRun) image(t *tensor.Tensor) {
	line := r.region.Width * r.ch
	r.Rows(r.region.Top, r.region.Height, t.Data[r.region.Top*line:][:r.region.Height*line])
}

// Rows takes n rows of the region, beginning with source row y.
func (r *rowRun) Rows(y, n int, pix []byte) { r.method.rows(r, y, n, pix) }

// end finishes a run. It returns errDeclined if source rows were missing.
func (r *rowRun) end() error {
	missing := r.next < r.count
	if !missing && r.out.place.active() {
		r.out.place.end(&r.out)
	}
	r.release()
	if missing {
		return errDeclined
	}
	return nil
}

// release drops the run's memory, which belongs to the Context.
func (r *rowRun) release() {
	r.window.data, r.scratch, r.line, r.fill, r.unmirrored, r.body = nil, nil, nil, nil, nil, nil
	r.out = output{}
}
