package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// rowTables holds everything about a fused op that depends on the sizes of its
// source and output. It says which source pixels the op reads, with which
// weights, and in which order it writes output rows. A rowRun reads it and
// never changes it.
//
// Frames cost almost nothing: they select the table entries to build and the
// order of the output rows. A pixel is computed only if the output shows it.
type rowTables struct {
	f      *fused
	source tensor.Desc // the source that the tables were built for; zero if none
	ch     int
	region codec.Region // the part of the source that Rows receives
	needed codec.Region // the part of region that the output depends on

	scaleH, scaleW int // the input size of the scaling op
	canvas         canvas
	mirrored       bool // computed rows are mirrored before they are written

	method rowMethod // one of the four
	copies copyMethod
	passes tapsMethod
	linear bilinearMethod
	halves halveMethod

	x, y       axisTables
	rowWidth   int  // pixels of the rows that x applies to: region's or needed's
	contiguous bool // x.pixels are consecutive

	count       int // output rows, in the order of their source rows
	first, step int // output row i is canvas row first + step*i

	readX, readY span // the source columns and rows that the output depends on
	longest      int  // the most source rows that one output row depends on

	// Memory of a run: a window of capacity rows of windowLine bytes, and
	// scratchBytes more.
	capacity, windowLine, scratchBytes int
}

// axisTables says how one axis of the output is computed from the source.
type axisTables struct {
	resampled bool        // false if pixels are copied
	pixels    []int32     // the source pixel of each output pixel that is copied
	taps      kernel.Taps // the weights of tapsMethod, the rows of halveMethod
}

// rowMethod is the way in which output pixels are computed from source pixels.
type rowMethod interface {
	// prepare builds the tables for the part of the source that before shows,
	// scaled as in sc and shown by after. It sets what they read. It returns
	// errDeclined for sizes that rows cannot be computed for.
	prepare(t *rowTables, before, after canvas, sc transforms.Scale) error
	// relate makes the horizontal tables relative to the rows that they apply
	// to, and sets rowWidth, contiguous and the memory of a run.
	relate(t *rowTables)
	// rows takes n rows of the region, beginning with source row y.
	rows(r *rowRun, y, n int, pix []byte)
}

// prepare builds the tables for a source and an output. It returns errDeclined
// for sizes that rows cannot be computed for.
func (t *rowTables) prepare(d, out tensor.Desc) error {
	f := t.f
	t.ch = d.Channels()
	before := wholeCanvas(d.Height(), d.Width())
	ok := true
	see := func(c *canvas, frame transforms.Frame) {
		q, good := c.through(frame)
		*c, ok = q, ok && good
	}
	for _, o := range f.before {
		see(&before, o.Frame(before.y.n, before.x.n))
	}
	t.scaleH, t.scaleW = before.y.n, before.x.n
	after := before
	t.method = &t.copies
	var sc transforms.Scale
	if f.scale != nil {
		var err error
		if sc, err = f.scale.Scale(before.y.n, before.x.n, nil); err != nil {
			return err
		}
		see(&before, sc.Cut)
		if before.padded() {
			return errDeclined
		}
		after = wholeCanvas(sc.Height, sc.Width)
		see(&after, sc.Place)
		for _, o := range f.after {
			see(&after, o.Frame(after.y.n, after.x.n))
		}
		t.method = t.methodOf(sc, before)
	}
	if !ok || after.empty() {
		return errDeclined
	}
	t.canvas = after
	if after.y.n != out.Height() || after.x.n != out.Width() {
		return errDeclined // an op whose Frame or Scale contradicts its Infer
	}
	t.x.pixels, t.y.pixels = t.x.pixels[:0], t.y.pixels[:0]
	if err := t.method.prepare(t, before, after, sc); err != nil {
		return err
	}
	t.order(before, after)
	x, y := t.readX, t.readY
	t.needed = codec.Region{Left: x.lo, Top: y.lo, Width: x.hi - x.lo, Height: y.hi - y.lo}
	t.setRegion(d)
	t.capacity, t.windowLine, t.scratchBytes = min(2*t.longest+stageRows, t.needed.Height), 0, 0
	t.method.relate(t)
	return nil
}

func (t *rowTables) methodOf(sc transforms.Scale, before canvas) rowMethod {
	i, b, _ := t.f.scale.Sampling()
	switch {
	case sc.Height == before.y.n && sc.Width == before.x.n, i == transforms.Nearest, i == transforms.NearestExact:
		return &t.copies
	case b == transforms.Pillow, b == transforms.TorchUint8:
		return &t.passes
	case sc.Halved:
		return &t.halves
	}
	return &t.linear
}

// order sorts the lists of pixels by source position, as all tables are, and
// records how that reorders the canvas.
func (t *rowTables) order(before, after canvas) {
	t.mirrored = before.x.step*after.x.step < 0
	if !t.x.resampled {
		t.mirrored = ascend(t.x.pixels)
	}
	flip := before.y.step*after.y.step < 0
	if !t.y.resampled {
		flip = ascend(t.y.pixels)
	}
	y := t.canvas.y
	t.count, t.first, t.step = y.hi-y.lo, y.lo, 1
	if flip {
		t.first, t.step = y.hi-1, -1
	}
}

// ascend reverses a descending list. It reports whether the list was
// descending.
func ascend(l []int32) bool {
	if l[0] <= l[len(l)-1] {
		return false
	}
	slices.Reverse(l)
	return true
}

// span is a range of source pixels, from lo up to hi.
type span struct{ lo, hi int }

func spanOf(pixels []int32) span {
	s := span{lo: int(pixels[0])}
	for _, p := range pixels {
		s.lo, s.hi = min(s.lo, int(p)), max(s.hi, int(p)+1)
	}
	return s
}

// spanOfTaps returns the pixels of taps and the largest number of one output.
func spanOfTaps(t *kernel.Taps) (s span, longest int) {
	s.lo = int(t.Start[0])
	for i, n := range t.Len {
		s.lo, s.hi = min(s.lo, int(t.Start[i])), max(s.hi, int(t.Start[i]+n))
		longest = max(longest, int(n))
	}
	return s, longest
}

// setRegion sets the part of the source that Rows receives.
func (t *rowTables) setRegion(d tensor.Desc) {
	t.region = t.needed
	if t.f.decode == nil { // rows of a tensor come at full width
		t.region.Left, t.region.Width = 0, d.Width()
	} else if !t.f.region {
		t.region = codec.Region{Width: d.Width(), Height: d.Height()}
	}
}

// relatePixels makes x.pixels relative to the first column of the region.
func (t *rowTables) relatePixels() {
	t.rowWidth = t.region.Width
	t.contiguous = true
	for i, x := range t.x.pixels {
		t.x.pixels[i] = x - int32(t.region.Left)
		t.contiguous = t.contiguous && t.x.pixels[i] == t.x.pixels[0]+int32(i)
	}
}

// inside returns the bytes of a canvas row that show the image.
func (t *rowTables) inside() int { return (t.canvas.x.hi - t.canvas.x.lo) * t.ch }

// bytes returns the memory that a run needs.
func (t *rowTables) bytes() int64 {
	n := int64(t.canvas.x.n)*int64(t.ch)*2 + int64(t.region.Width)*int64(t.ch)*2
	n += 8*int64(len(t.x.pixels)+len(t.y.pixels)) + 16*int64(t.x.taps.K*len(t.x.taps.Start)+t.y.taps.K*len(t.y.taps.Start))
	return n + t.imageBytes() + t.windowBytes()
}

// imageBytes returns the size of the decoded region if a run keeps all of it.
func (t *rowTables) imageBytes() int64 {
	if t.f.decode == nil || t.f.rows {
		return 0
	}
	return int64(t.region.Width) * int64(t.region.Height) * int64(t.ch)
}

// windowBytes returns the memory for rows on their way through a run.
func (t *rowTables) windowBytes() int64 {
	return int64(t.capacity)*int64(t.windowLine) + int64(t.scratchBytes)
}
