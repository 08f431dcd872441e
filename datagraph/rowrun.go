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
	next int // the output row to compute next
	// line is one canvas row. It is nil without a value table: the rows are
	// then written in place.
	line         []byte
	left, inside int    // bytes of a canvas row before the image, and of the image
	fill         []byte // a canvas row of fill; nil if the canvas is the image

	window        rowWindow
	stage         rowStage
	premultiplied []byte
	vertical      []byte // the result of the vertical pass if it comes first
	unmirrored    []byte // the image's part of the next row, before it is mirrored
	blocks        bilinearBlocks
}

// rowWindow holds source rows, or rows after the horizontal pass.
type rowWindow struct {
	data      []byte
	top, rows int // position of the first row, and the number of rows
}

// rowStage collects source rows before the horizontal pass.
type rowStage struct {
	data []byte
	rows int
}

// bilinearBlocks is the memory of methodBilinear. It computes up to blockRows
// output rows at once.
type bilinearBlocks struct {
	rows    []byte
	sums    []int32
	taps    kernel.CVTaps // the vertical taps of one block, relative to the window
	scratch kernel.CVScratch
}

// begin starts a run and writes the output rows that show no image.
func (r *rowRun) begin(c *transforms.Context, dst *tensor.Tensor) {
	ch := r.ch
	r.out.begin(dst, r.f.table, ch)
	r.next, r.window.rows, r.stage.rows = 0, 0, 0
	x := r.canvas.x
	r.left, r.inside = x.lo*ch, (x.hi-x.lo)*ch
	r.line = nil
	if r.out.table != nil {
		r.line = c.Scratch(x.n * ch)
	}
	if r.y.resampled {
		r.window.data = c.Scratch(r.capacity * r.windowLine())
	}
	if r.method == methodBilinear {
		r.window.top = 0
		r.blocks.rows = c.Scratch(blockRows * r.inside)
		r.blocks.sums = tensor.Cast[int32](c.Scratch(8 * r.inside))
	}
	if r.staged {
		r.stage.data = c.Scratch(stageRows * r.rowWidth * ch)
	} else if r.premultiply {
		r.premultiplied = c.Scratch(r.region.Width * ch)
	}
	if r.verticalFirst {
		r.vertical = c.Scratch(r.rowWidth * ch)
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
func (r *rowRun) Rows(y, n int, pix []byte) {
	switch {
	case r.staged:
		r.collect(y, n, pix)
	case r.method == methodBilinear:
		r.bilinearRows(y, n, pix)
	case r.y.resampled:
		r.windowed(y, n, pix, r.region.Width*r.ch, r.premultiply)
	default:
		r.copyRows(y, n, pix)
	}
}

// copyRows is Rows for outputs with one source row for each output row.
func (r *rowRun) copyRows(y, n int, pix []byte) {
	stride := r.region.Width * r.ch
	for r.next < r.count {
		sy := int(r.y.pixels[r.next])
		if sy >= y+n {
			return
		}
		row := pix[(sy-y)*stride:]
		if r.contiguous && !r.x.resampled && r.fill == nil && !r.mirrored && r.step > 0 {
			r.copyThrough(row, y+n-sy, stride)
			continue
		}
		at := r.first + r.step*r.next
		dst := r.target(at)
		src := row[:stride]
		if r.premultiply {
			kernel.Premultiply(r.premultiplied, src, r.ch)
			src = r.premultiplied
		}
		r.horizontal(dst, src, 1)
		if r.premultiply {
			kernel.Unpremultiply(dst, dst, r.ch)
		}
		r.done(at)
		r.next++
	}
}

// copyThrough writes the first of n source rows to the output, unchanged except
// for the value table. It writes several rows at once if they are consecutive
// and of full width.
func (r *rowRun) copyThrough(rows []byte, n, stride int) {
	k := 1
	from := int(r.x.pixels[0]) * r.ch
	if r.inside == stride {
		for k < n && r.next+k < r.count && r.y.pixels[r.next+k] == r.y.pixels[r.next+k-1]+1 {
			k++
		}
	}
	r.out.row(r.first+r.next, rows[from:][:k*r.inside])
	r.next += k
}

// horizontal computes the output columns of n source rows.
func (r *rowRun) horizontal(dst, src []byte, n int) {
	switch stride := r.rowWidth * r.ch; {
	case r.method == methodTaps && r.x.resampled:
		r.x.taps.Horizontal(dst, src, n, r.rowWidth, r.ch)
	case r.contiguous:
		line, from := len(r.x.pixels)*r.ch, int(r.x.pixels[0])*r.ch
		for i := range n {
			copy(dst[i*line:][:line], src[i*stride+from:])
		}
	default:
		line := len(r.x.pixels) * r.ch
		for i := range n {
			kernel.Pick(dst[i*line:][:line], src[i*stride:][:stride], r.rowWidth, r.ch, r.x.pixels, oneRow)
		}
	}
}

var oneRow = []int32{0}

// end finishes a run. It returns errDeclined if source rows were missing.
func (r *rowRun) end() error {
	missing := r.next < r.count
	r.release()
	if missing {
		return errDeclined
	}
	return nil
}

// release drops the run's memory, which belongs to the Context.
func (r *rowRun) release() {
	r.window.data, r.stage.data, r.blocks.rows, r.blocks.sums = nil, nil, nil, nil
	r.line, r.fill, r.premultiplied, r.vertical, r.unmirrored = nil, nil, nil, nil, nil
	r.out = output{}
}
