package datagraph

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/transforms"
)

// tapsMethod scales in two passes with the fixed-point weights of Pillow or
// torch. An axis that keeps its size is copied.
type tapsMethod struct {
	premultiply   bool // for two and four channels; see transforms.Resize
	verticalFirst bool
	staged        bool // rows are collected before the horizontal pass
}

// stageRows is the number of rows collected when they arrive one by one: the
// horizontal pass works on several at once.
const stageRows = 8

var filters = [...]kernel.Filter{
	transforms.Box: kernel.FilterBox, transforms.Bilinear: kernel.FilterBilinear, transforms.Hamming: kernel.FilterHamming,
	transforms.Bicubic: kernel.FilterBicubic, transforms.Lanczos: kernel.FilterLanczos,
	transforms.PILCubic: kernel.FilterBicubic,
}

var torchFilters = [...]kernel.TorchFilter{
	transforms.Bilinear: kernel.TorchLinear, transforms.Bicubic: kernel.TorchCubic, transforms.Lanczos: kernel.TorchLanczos,
}

func (m *tapsMethod) prepare(t *rowTables, before, after canvas, sc transforms.Scale) error {
	i, b, antialias := t.f.scale.Sampling()
	if b == transforms.TorchUint8 && t.ch > 4 && sc.Width == 1 && sc.Height != before.y.n {
		return errDeclined // torch repeats the first row
	}
	m.premultiply = b == transforms.Pillow && (t.ch == 2 || t.ch == 4)
	m.verticalFirst = sc.VerticalFirst
	build := func(a *axisTables, before, after axis, n int) (span, int) {
		if a.resampled = n != before.n; !a.resampled {
			a.pixels = before.over(after).pixels(a.pixels)
			return spanOf(a.pixels), 1
		}
		from, to := after.visible()
		if b == transforms.Pillow {
			a.taps.Pillow(before.n, n, from, to, filters[i], false)
		} else {
			a.taps.TorchU8(before.n, n, from, to, torchFilters[i], antialias)
		}
		if before.step < 0 {
			a.taps.Mirror(before.at)
		} else {
			a.taps.Shift(-before.at)
		}
		return spanOfTaps(&a.taps)
	}
	t.readX, _ = build(&t.x, before.x, after.x, sc.Width)
	if t.x.resampled && t.ch == 3 {
		t.x.taps.PackRows()
	}
	t.readY, t.longest = build(&t.y, before.y, after.y, sc.Height)
	m.staged = t.f.rows && t.x.resampled && t.y.resampled && !m.verticalFirst
	return nil
}

func (m *tapsMethod) relate(t *rowTables) {
	left := t.region.Left
	t.relatePixels()
	if m.verticalFirst || m.staged {
		left, t.rowWidth = t.needed.Left, t.needed.Width
	}
	if t.x.resampled {
		t.x.taps.Shift(left)
	}
	if t.y.resampled {
		t.windowLine = t.inside()
	}
	if m.verticalFirst { // the result of the vertical pass
		t.windowLine = t.rowWidth * t.ch
		t.scratchBytes = t.windowLine
	}
	switch { // the stage, or a row multiplied by alpha
	case m.staged:
		t.scratchBytes += stageRows * t.rowWidth * t.ch
	case m.premultiply:
		t.scratchBytes += t.region.Width * t.ch
	}
}

func (m *tapsMethod) rows(r *rowRun, y, n int, pix []byte) {
	var premultiplied []byte // memory for a row
	if m.premultiply && !m.staged {
		premultiplied = r.scratch[len(r.scratch)-r.region.Width*r.ch:]
	}
	switch {
	case m.staged:
		m.collect(r, y, n, pix)
	case r.y.resampled:
		r.windowed(m, y, n, pix, r.region.Width*r.ch, premultiplied)
	default:
		r.single(y, n, pix, premultiplied)
	}
}

// collect passes the needed columns of up to stageRows rows at once to
// windowed.
func (m *tapsMethod) collect(r *rowRun, y, n int, pix []byte) {
	stride, line := r.region.Width*r.ch, r.rowWidth*r.ch
	from := (r.needed.Left - r.region.Left) * r.ch
	bottom := r.needed.Top + r.needed.Height
	for ; n > 0; y, n, pix = y+1, n-1, pix[stride:] {
		if y < r.needed.Top || y >= bottom {
			continue
		}
		copy(r.scratch[r.staged*line:][:line], pix[from:])
		r.staged++
		if r.staged < stageRows && y < bottom-1 {
			continue
		}
		rows := r.scratch[:r.staged*line]
		if m.premultiply {
			kernel.Premultiply(rows, rows, r.ch)
		}
		r.windowed(m, y+1-r.staged, r.staged, rows, line, nil)
		r.staged = 0
	}
}

// store appends n source rows to the window, after the horizontal pass unless
// the vertical pass comes first.
func (m *tapsMethod) store(r *rowRun, dst, src []byte, n, stride int) {
	line := r.windowLine
	switch {
	case !m.verticalFirst:
		r.horizontal(dst[:n*line], src, n)
	case line == stride:
		copy(dst, src)
	default:
		from := (r.needed.Left - r.region.Left) * r.ch
		for i := range n {
			copy(dst[i*line:][:line], src[i*stride+from:])
		}
	}
}

// produce computes an output row from its source rows in the window.
func (m *tapsMethod) produce(r *rowRun, dst, src []byte) {
	if m.verticalFirst {
		vertical := r.scratch[:r.windowLine]
		r.y.taps.VerticalRow(vertical, src, r.windowLine, r.next)
		r.horizontal(dst, vertical, 1)
	} else {
		r.y.taps.VerticalRow(dst, src, r.windowLine, r.next)
	}
	if m.premultiply {
		kernel.Unpremultiply(dst, dst, r.ch)
	}
}
