package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// rowWork is a fused op at work: rows of the source go in from the top down,
// rows of the output come out as soon as their sources are there. Between the
// two passes of a scaling lies a window of rows, about twice as many as one
// output row is made of.
//
// Frames cost little: they choose which entries of the tables are made, and in
// which order rows are written. So a pixel is computed if and only if it is seen.
type rowWork struct {
	f        *fused
	source   tensor.Desc // that the tables are for
	ch       int
	region   codec.Region // of the source, what Rows is given
	needed   codec.Region // of the source, what is read; within region
	rowWidth int          // pixels of the rows that the horizontal tables are for: region's, or needed's if vertical first

	scaleH, scaleW int // of what the scaling op is given
	canvas         placement
	kind           kind
	premultiply    bool // two and four channels: see transforms.Resize
	flipLine       bool // computed rows are to be turned around
	verticalFirst  bool
	xTaps, yTaps   bool // the axis is resampled, by x and y; else xs and ys name pixels
	x, y           kernel.Taps
	cx, cy         kernel.CVTaps // cy's inputs are numbers of used
	used           []int32       // rows of the source that OpenCV's bilinear reads
	part           kernel.CVTaps // some outputs of cy, whose inputs are rows of the window
	cv             kernel.CVScratch
	xs, ys         []int32 // pixels of region's rows; rows of the source
	all            []int32 // of nearest
	direct         bool    // xs are consecutive
	staging        bool    // rows are gathered before the horizontal pass
	count          int     // outputs of the vertical axis, in the order of their sources
	first, step    int     // output i is the canvas's row first + step*i
	longest        int     // the most rows that an output is made of

	// Of one run.
	next         int // output
	window       []byte
	block        []byte  // rows of OpenCV's bilinear
	sums         []int32 // that it sums up
	capacity     int     // rows of the window
	top, rows    int     // the window's first row in the source, and how many it holds
	line         []byte  // a row of the canvas; empty if rows are written where they belong
	pre, mid     []byte
	stage        []byte
	staged       int    // rows of stage
	turned       []byte // the image's part of the next row, to be turned around
	out          output
	left, inside int // bytes of the canvas's row before the image, and in it
	fill         []byte
}

// blockRows is how many rows OpenCV's bilinear makes at once, so that rows in
// common are summed up once.
const blockRows = 32

// stageRows is how many rows are gathered where they come one by one: the
// horizontal pass works on several at once.
const stageRows = 8

type kind uint8

const (
	pick   kind = iota // pixels are copied
	pillow             // two passes of Pillow's taps
	linear             // OpenCV's bilinear
	halved             // OpenCV's mean of two by two pixels
)

var filters = [...]kernel.Filter{
	transforms.Box: kernel.FilterBox, transforms.Bilinear: kernel.FilterBilinear, transforms.Hamming: kernel.FilterHamming,
	transforms.Bicubic: kernel.FilterBicubic, transforms.Lanczos: kernel.FilterLanczos,
	transforms.PILCubic: kernel.FilterBicubic,
}

// prepare makes the tables for a source and an output.
func (w *rowWork) prepare(d, out tensor.Desc) error {
	f := w.f
	w.ch = d.Channels()
	before := wholeOf(d.Height(), d.Width())
	ok := true
	see := func(p *placement, frame transforms.Frame) {
		q, good := p.through(frame)
		*p, ok = q, ok && good
	}
	for _, o := range f.before {
		see(&before, o.Frame(before.y.n, before.x.n))
	}
	w.scaleH, w.scaleW = before.y.n, before.x.n
	after := before
	w.kind = pick
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
		after = wholeOf(sc.Height, sc.Width)
		see(&after, sc.Place)
		for _, o := range f.after {
			see(&after, o.Frame(after.y.n, after.x.n))
		}
		w.kind = w.kindOf(sc, before)
	}
	if !ok || after.empty() {
		return errDeclined
	}
	w.canvas = after
	if after.y.n != out.Height() || after.x.n != out.Width() {
		return errDeclined // which cannot be, if ops do what they say
	}
	w.premultiply, w.verticalFirst, w.xTaps, w.yTaps = false, false, false, false
	switch {
	case f.scale == nil:
		w.xs, w.ys = after.x.pixels(w.xs), after.y.pixels(w.ys)
	case w.kind == pick:
		if err := w.nearest(before, after, sc); err != nil {
			return err
		}
	case w.kind == pillow:
		w.taps(before, after, sc)
	default:
		w.opencv(before, after, sc)
	}
	w.order(before, after)
	w.bounds(d)
	return nil
}

func (w *rowWork) kindOf(sc transforms.Scale, before placement) kind {
	i, b, _ := w.f.scale.Sampling()
	switch {
	case sc.Height == before.y.n && sc.Width == before.x.n, i == transforms.Nearest, i == transforms.NearestExact:
		return pick
	case b == transforms.Pillow:
		return pillow
	case sc.Halved:
		return halved
	}
	return linear
}

// pixels lists the image's pixels that the canvas shows.
func (p placed) pixels(l []int32) []int32 {
	l = l[:0]
	for i := p.lo; i < p.hi; i++ {
		l = append(l, int32(p.at+p.step*i))
	}
	return l
}

// nearest makes lists of pixels where scaling copies pixels.
func (w *rowWork) nearest(before, after placement, sc transforms.Scale) error {
	i, b, _ := w.f.scale.Sampling()
	rule := kernel.NearestPillow
	switch {
	case sc.Height == before.y.n && sc.Width == before.x.n:
		rule = func(l []int32, _, _ int) {
			for i := range l {
				l[i] = int32(i)
			}
		}
	case b == transforms.OpenCV && i == transforms.Nearest:
		rule = kernel.NearestCV
	case b == transforms.OpenCV:
		rule = kernel.NearestExactCV
	}
	list := func(l []int32, before, after placed, n int) ([]int32, bool) {
		w.all = slices.Grow(w.all[:0], n)[:n]
		all := w.all
		rule(all, before.n, n)
		l = l[:0]
		for i := after.lo; i < after.hi; i++ {
			p := int(all[after.at+after.step*i])
			if p < 0 {
				return l, false // Pillow leaves the pixel 0
			}
			l = append(l, int32(before.at+before.step*p))
		}
		return l, true
	}
	var okX, okY bool
	w.xs, okX = list(w.xs, before.x, after.x, sc.Width)
	w.ys, okY = list(w.ys, before.y, after.y, sc.Height)
	if !okX || !okY {
		return errDeclined
	}
	return nil
}

// survivors are the outputs of a scaling that the canvas shows.
func (p placed) survivors() (from, to int) {
	a, b := p.at+p.step*p.lo, p.at+p.step*(p.hi-1)
	return min(a, b), max(a, b) + 1
}

// taps makes the tables of Pillow's passes.
func (w *rowWork) taps(before, after placement, sc transforms.Scale) {
	i, _, _ := w.f.scale.Sampling()
	w.premultiply = w.ch == 2 || w.ch == 4
	w.xTaps, w.yTaps = sc.Width != before.x.n, sc.Height != before.y.n
	w.verticalFirst = sc.VerticalFirst
	one := func(t *kernel.Taps, b, a placed, n int) {
		from, to := a.survivors()
		t.Pillow(b.n, n, from, to, filters[i], false)
		if b.step < 0 {
			t.Mirror(b.at)
		} else {
			t.Shift(-b.at)
		}
	}
	if w.xTaps {
		one(&w.x, before.x, after.x, sc.Width)
	} else {
		w.xs = before.x.over(after.x).pixels(w.xs)
	}
	if w.yTaps {
		one(&w.y, before.y, after.y, sc.Height)
	} else {
		w.ys = before.y.over(after.y).pixels(w.ys)
	}
}

// opencv makes the tables of OpenCV's bilinear. before is not mirrored.
func (w *rowWork) opencv(before, after placement, sc transforms.Scale) {
	w.xTaps, w.yTaps = true, true
	if w.kind == linear {
		from, to := after.x.survivors()
		w.cx.Resize(before.x.n, sc.Width, kernel.CVLinear, false)
		w.cx.Cut(from, to, -before.x.at)
		from, to = after.y.survivors()
		w.cy.Resize(before.y.n, sc.Height, kernel.CVLinear, true)
		w.cy.Cut(from, to, -before.y.at)
		w.used = w.used[:0]
		for i, y := range w.cy.Index { // ascending, but for pairs' first after the last one's second
			if n := len(w.used); n == 0 || y > w.used[n-1] {
				w.used = append(w.used, y)
			}
			n := len(w.used) - 1
			for w.used[n] != y {
				n--
			}
			w.cy.Index[i] = int32(n)
		}
		return
	}
	w.y.Start, w.y.Len = w.y.Start[:0], w.y.Len[:0]
	for from, to := after.y.survivors(); from < to; from++ {
		w.y.Start = append(w.y.Start, int32(before.y.at+2*from))
		w.y.Len = append(w.y.Len, 2)
	}
	from, to := after.x.survivors()
	w.xs = w.xs[:0]
	for i := 2 * from; i < 2*to; i++ {
		w.xs = append(w.xs, int32(before.x.at+i))
	}
}

// order brings the lists of pixels into the order of the source, which tables
// are in, and notes what that does to the canvas.
func (w *rowWork) order(before, after placement) {
	w.flipLine = before.x.step*after.x.step < 0
	if !w.xTaps {
		if w.flipLine = w.xs[0] > w.xs[len(w.xs)-1]; w.flipLine {
			slices.Reverse(w.xs)
		}
	}
	flip := before.y.step*after.y.step < 0
	if !w.yTaps {
		if flip = w.ys[0] > w.ys[len(w.ys)-1]; flip {
			slices.Reverse(w.ys)
		}
	}
	y := w.canvas.y
	w.count, w.first, w.step = y.hi-y.lo, y.lo, 1
	if flip {
		w.first, w.step = y.hi-1, -1
	}
}

// bounds finds what is needed of the source and makes the horizontal table relative to it.
func (w *rowWork) bounds(d tensor.Desc) {
	left, right := d.Width(), 0
	top, bottom := d.Height(), 0
	span := func(lo, hi *int, from, to int32) { *lo, *hi = min(*lo, int(from)), max(*hi, int(to)) }
	switch {
	case w.kind == linear:
		for _, x := range w.cx.Index {
			span(&left, &right, x, x+1)
		}
	case w.kind == pillow && w.xTaps:
		for i, n := range w.x.Len {
			span(&left, &right, w.x.Start[i], w.x.Start[i]+n)
		}
	default:
		for _, x := range w.xs {
			span(&left, &right, x, x+1)
		}
	}
	w.longest = 1
	switch {
	case w.kind == linear:
		w.longest = 2
		for _, y := range w.used {
			span(&top, &bottom, y, y+1)
		}
	case w.yTaps:
		for i, n := range w.y.Len {
			span(&top, &bottom, w.y.Start[i], w.y.Start[i]+n)
			w.longest = max(w.longest, int(n))
		}
	default:
		for _, y := range w.ys {
			span(&top, &bottom, y, y+1)
		}
	}
	w.needed = codec.Region{Left: left, Top: top, Width: right - left, Height: bottom - top}
	w.region = w.needed
	if w.f.decode == nil { // rows of a tensor are passed as they lie
		w.region.Left, w.region.Width = 0, d.Width()
	} else if !w.f.region {
		w.region = codec.Region{Width: d.Width(), Height: d.Height()}
	}
	w.rowWidth = w.region.Width
	by := w.region.Left
	w.staging = w.f.rows && w.xTaps && w.yTaps && w.kind == pillow && !w.verticalFirst
	if w.verticalFirst || w.staging || w.kind == linear { // the window has, or the stage, the needed columns alone
		w.rowWidth, by = w.needed.Width, w.needed.Left
	}
	if w.kind == linear {
		w.cx.Cut(0, len(w.cx.Index)/2, by)
	}
	if w.kind == pillow && w.xTaps {
		w.x.Shift(by)
	}
	w.direct = true
	for i, x := range w.xs {
		w.xs[i] = x - int32(by)
		w.direct = w.direct && w.xs[i] == w.xs[0]+int32(i)
	}
	w.capacity = min(2*w.longest+stageRows, w.needed.Height)
	if w.kind == linear {
		w.capacity = min(blockRows, len(w.used))
	}
}

// windowLine is the elements of a row of the window.
func (w *rowWork) windowLine() int {
	switch {
	case w.kind == halved:
		return len(w.xs) * w.ch
	case w.verticalFirst, w.kind == linear:
		return w.rowWidth * w.ch
	}
	return (w.canvas.x.hi - w.canvas.x.lo) * w.ch
}

// bytes is the memory of a run.
func (w *rowWork) bytes() int64 {
	n := int64(w.canvas.x.n)*int64(w.ch)*2 + int64(w.region.Width)*int64(w.ch)*2
	n += 8*int64(len(w.xs)+len(w.ys)) + 16*int64(w.x.K*len(w.x.Start)+w.y.K*len(w.y.Start))
	return n + w.imageBytes() + w.windowBytes()
}

// imageBytes is the decoded region's, if it is kept as a whole.
func (w *rowWork) imageBytes() int64 {
	if w.f.decode == nil || w.f.rows {
		return 0
	}
	return int64(w.region.Width) * int64(w.region.Height) * int64(w.ch)
}

func (w *rowWork) windowBytes() int64 {
	if !w.yTaps {
		return 0
	}
	n := int64(w.capacity) * int64(w.windowLine())
	if w.kind == linear { // a block of outputs, and sums of two rows
		n += int64(blockRows+8) * int64((w.canvas.x.hi-w.canvas.x.lo)*w.ch)
	}
	if w.staging {
		n += int64(stageRows * w.rowWidth * w.ch)
	}
	return n
}

// begin starts a run and writes the rows of the output that show no image.
func (w *rowWork) begin(c *transforms.Context, dst *tensor.Tensor) {
	ch := w.ch
	w.out.begin(dst, w.f.table, ch)
	w.next, w.rows = 0, 0
	x := w.canvas.x
	w.left, w.inside = x.lo*ch, (x.hi-x.lo)*ch
	w.line = nil
	if w.out.table != nil {
		w.line = c.Scratch(x.n * ch)
	}
	if w.yTaps {
		w.window = c.Scratch(w.capacity * w.windowLine())
	}
	if w.kind == linear {
		w.top = 0
		w.block = c.Scratch(blockRows * w.inside)
		w.sums = tensor.Cast[int32](c.Scratch(8 * w.inside))
	}
	w.staged = 0
	if w.staging {
		w.stage = c.Scratch(stageRows * w.rowWidth * ch)
	} else if w.premultiply {
		w.pre = c.Scratch(w.region.Width * ch)
	}
	if w.verticalFirst {
		w.mid = c.Scratch(w.rowWidth * ch)
	}
	if w.flipLine {
		w.turned = c.Scratch(w.inside)
	}
	if w.canvas.padded() {
		w.fillAround(c)
	}
}

// fillAround draws what lies around the image.
func (w *rowWork) fillAround(c *transforms.Context) {
	w.fill = c.Scratch(w.canvas.x.n * w.ch)
	for i := range w.fill {
		c := i % w.ch
		if w.f.swap {
			c = w.ch - 1 - c
		}
		w.fill[i] = uint8(w.canvas.fill[c%len(w.canvas.fill)])
	}
	for y := range w.canvas.y.n {
		if y < w.canvas.y.lo || y >= w.canvas.y.hi {
			w.out.row(y, w.fill)
		}
	}
	copy(w.line, w.fill)
}

// target is where the image's part of the canvas's row y is to be written.
func (w *rowWork) target(y int) []byte {
	if w.flipLine {
		return w.turned
	}
	return w.place(y)
}

// place is where the image's part of the canvas's row y lies.
func (w *rowWork) place(y int) []byte {
	line := w.line
	if line == nil {
		line = w.out.u8[y*w.out.line:][:w.out.line]
		if w.fill != nil {
			copy(line, w.fill[:w.left])
			copy(line[w.left+w.inside:], w.fill[w.left+w.inside:])
		}
	}
	return line[w.left:][:w.inside]
}

// done says that the target has been written.
func (w *rowWork) done(y int) {
	if w.flipLine {
		kernel.FlipRow(w.place(y), w.turned, w.ch)
	}
	if w.line != nil {
		w.out.row(y, w.line)
	}
}

// image gives all rows of a dense tensor.
func (w *rowWork) image(t *tensor.Tensor) {
	line := w.region.Width * w.ch
	w.Rows(w.region.Top, w.region.Height, t.Data[w.region.Top*line:][:w.region.Height*line])
}

// Rows takes n rows of the region, from row y of the source on.
func (w *rowWork) Rows(y, n int, pix []byte) {
	if w.staging {
		w.gather(y, n, pix)
		return
	}
	if w.kind == linear {
		w.bilinear(y, n, pix)
		return
	}
	if w.yTaps {
		w.windowed(y, n, pix, w.region.Width*w.ch, w.premultiply)
		return
	}
	stride := w.region.Width * w.ch
	for w.next < w.count {
		sy := int(w.ys[w.next])
		if sy >= y+n {
			return
		}
		row := pix[(sy-y)*stride:]
		if w.direct && !w.xTaps && w.fill == nil && !w.flipLine && w.step > 0 {
			w.copied(row, y+n-sy, stride)
			continue
		}
		at := w.first + w.step*w.next
		dst := w.target(at)
		src := row[:stride]
		if w.premultiply {
			kernel.Premultiply(w.pre, src, w.ch)
			src = w.pre
		}
		w.horizontal(dst, src, 1)
		if w.premultiply {
			kernel.Unpremultiply(dst, dst, w.ch)
		}
		w.done(at)
		w.next++
	}
}

// copied outputs rows that need no work but the table: several at once if they are whole.
func (w *rowWork) copied(rows []byte, n, stride int) {
	k := 1
	from := int(w.xs[0]) * w.ch
	if w.inside == stride {
		for k < n && w.next+k < w.count && w.ys[w.next+k] == w.ys[w.next+k-1]+1 {
			k++
		}
	}
	w.out.row(w.first+w.next, rows[from:][:k*w.inside])
	w.next += k
}

// horizontal makes n rows of the image's columns out of rows of the region.
func (w *rowWork) horizontal(dst, src []byte, n int) {
	switch stride := w.rowWidth * w.ch; {
	case w.kind == pillow && w.xTaps:
		w.x.Horizontal(dst, src, n, w.rowWidth, w.ch)
	case w.direct:
		line, from := len(w.xs)*w.ch, int(w.xs[0])*w.ch
		for i := range n {
			copy(dst[i*line:][:line], src[i*stride+from:])
		}
	default:
		line := len(w.xs) * w.ch
		for i := range n {
			kernel.Pick(dst[i*line:][:line], src[i*stride:][:stride], w.rowWidth, w.ch, w.xs, oneRow)
		}
	}
}

var oneRow = []int32{0}

// gather is Rows where the horizontal pass is first.
func (w *rowWork) gather(y, n int, pix []byte) {
	stride, line := w.region.Width*w.ch, w.rowWidth*w.ch
	from := (w.needed.Left - w.region.Left) * w.ch
	bottom := w.needed.Top + w.needed.Height
	for ; n > 0; y, n, pix = y+1, n-1, pix[stride:] {
		if y < w.needed.Top || y >= bottom {
			continue
		}
		copy(w.stage[w.staged*line:][:line], pix[from:])
		w.staged++
		if w.staged < stageRows && y < bottom-1 {
			continue
		}
		rows := w.stage[:w.staged*line]
		if w.premultiply {
			kernel.Premultiply(rows, rows, w.ch)
		}
		w.windowed(y+1-w.staged, w.staged, rows, line, false)
		w.staged = 0
	}
}

// windowed is Rows where output rows are made of several. The rows of pix are
// stride bytes; multiply says that they are to be multiplied by alpha.
func (w *rowWork) windowed(y, n int, pix []byte, stride int, multiply bool) {
	line := w.windowLine()
	for w.next < w.count {
		first := int(w.y.Start[w.next])
		if w.rows == 0 {
			w.top = max(y, first)
		}
		if d := w.top + w.rows - y; d > 0 { // rows that nothing needs
			d = min(d, n)
			y, n, pix = y+d, n-d, pix[d*stride:]
		}
		if n == 0 {
			return
		}
		k := min(n, w.capacity-w.rows)
		if multiply {
			k = min(k, 1)
		}
		if k == 0 {
			w.drop(first-w.top, line)
			continue
		}
		src := pix[:k*stride]
		if multiply {
			kernel.Premultiply(w.pre, src, w.ch)
			src = w.pre
		}
		at := w.rows * line
		switch {
		case w.verticalFirst:
			if line == stride {
				copy(w.window[at:], src)
				break
			}
			from := (w.needed.Left - w.region.Left) * w.ch
			for i := range k {
				copy(w.window[at+i*line:][:line], src[i*stride+from:])
			}
		default:
			w.horizontal(w.window[at:][:k*line], src, k)
		}
		w.rows += k
		y, n, pix = y+k, n-k, pix[k*stride:]
		for w.next < w.count && int(w.y.Start[w.next]+w.y.Len[w.next]) <= w.top+w.rows {
			w.produce(line)
			w.next++
		}
	}
}

// bilinear is Rows of OpenCV's bilinear. The window has the rows that are read
// and no others; top counts them.
func (w *rowWork) bilinear(y, n int, pix []byte) {
	stride, line := w.region.Width*w.ch, w.rowWidth*w.ch
	from := (w.needed.Left - w.region.Left) * w.ch
	for w.top+w.rows < len(w.used) {
		sy := int(w.used[w.top+w.rows])
		if sy >= y+n {
			return
		}
		copy(w.window[w.rows*line:][:line], pix[(sy-y)*stride+from:])
		w.rows++
		if w.rows < w.capacity && w.top+w.rows < len(w.used) {
			continue
		}
		for w.next < w.count && int(w.cy.Index[2*w.next+1]) < w.top+w.rows {
			w.bilinearBlock(line)
		}
		if w.next < w.count {
			w.drop(int(w.cy.Index[2*w.next])-w.top, line)
		}
	}
}

// bilinearBlock makes the next output rows of those in the window, blockRows at most.
func (w *rowWork) bilinearBlock(line int) {
	p := &w.part
	p.K, p.Index = 2, p.Index[:0]
	k := 0
	for k < blockRows && w.next+k < w.count && int(w.cy.Index[2*(w.next+k)+1]) < w.top+w.rows {
		i := 2 * (w.next + k)
		p.Index = append(p.Index, w.cy.Index[i]-int32(w.top), w.cy.Index[i+1]-int32(w.top))
		k++
	}
	p.WI = w.cy.WI[2*w.next:][:2*k]
	kernel.CVResizeU8(w.block[:k*w.inside], w.window[:w.rows*line], w.rowWidth, w.inside/w.ch, w.ch, &w.cx, p, w.sums, &w.cv)
	for i := range k {
		at := w.first + w.step*w.next
		copy(w.target(at), w.block[i*w.inside:][:w.inside])
		w.done(at)
		w.next++
	}
}

// drop forgets the window's first n rows.
func (w *rowWork) drop(n, line int) {
	n = min(n, w.rows)
	w.top += n
	w.rows -= n
	copy(w.window, w.window[n*line:][:w.rows*line])
}

// produce makes the next output row of the window's.
func (w *rowWork) produce(line int) {
	i := w.next
	at := w.first + w.step*i
	dst := w.target(at)
	from := (int(w.y.Start[i]) - w.top) * line
	switch w.kind {
	case halved:
		kernel.CVAreaFastU8(dst, w.window[from:][:2*line], 1, len(dst)/w.ch, w.ch, 2, 2)
	default:
		if w.verticalFirst {
			w.y.VerticalRow(w.mid, w.window[from:], line, i)
			w.horizontal(dst, w.mid, 1)
		} else {
			w.y.VerticalRow(dst, w.window[from:], line, i)
		}
		if w.premultiply {
			kernel.Unpremultiply(dst, dst, w.ch)
		}
	}
	w.done(at)
}

// end is the end of a run: an error if rows are missing, which cannot be.
func (w *rowWork) end() error {
	missing := w.next < w.count
	w.release()
	if missing {
		return errDeclined
	}
	return nil
}

// release forgets the run's memory, which is others' now.
func (w *rowWork) release() {
	w.window, w.block, w.sums, w.line, w.pre, w.mid, w.stage, w.turned, w.fill = nil, nil, nil, nil, nil, nil, nil, nil, nil
	w.out = output{}
}
