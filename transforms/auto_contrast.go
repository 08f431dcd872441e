package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// AutoContrast stretches the values of each channel to the whole range. It
// takes a uint8 image of one or three channels, HWC or CHW, with torch also a
// float32 image of 0 to 1, and keeps the description.
//
// lo and hi are the least and the greatest value of a channel. A channel with
// lo = hi keeps its values.
//
//   - Pillow: v*s + (-lo*s) with s = 255/(hi-lo), in float64 with each
//     operation rounded, truncated and clipped;
//   - MindSpore: the same in float32, s rounded from float64;
//   - Torch: (v-lo) / ((hi-lo)*m) in float32, clipped and, for uint8,
//     truncated. m is float32's 1/255 for uint8 and 1 for float32.
//
// pillow and mindspore first set the number of pixels with the values of Ignore
// to 0. Of the n pixels left they then take away CutoffLow percent from the
// lowest values on, and CutoffHigh percent from the highest values on. That is
// floor(n*percent/100) pixels; mindspore truncates the percentage to a whole
// number. lo and hi are the least and the greatest value of the rest.
//
// Reference: Pillow 13.0.0, ImageOps.autocontrast; torchvision 0.29.2, v2's
// autocontrast; MindSpore 2.10.0, vision.AutoContrast of an array.
type AutoContrast struct {
	CutoffLow  float64    `json:"cutoff_low"`  // percent of the pixels to leave out from the lowest values on, 0 to 100 (mindspore: below 50); torch: 0; default 0
	CutoffHigh float64    `json:"cutoff_high"` // percent of the pixels to leave out from the highest values on, as CutoffLow; mindspore: equal to CutoffLow
	Ignore     NumberList `json:"ignore"`      // values to leave out, whole numbers of 0 to 255; torch: none; default none
	Backend    Backend    `json:"backend"`     // pillow, torch or mindspore; default pillow
}

//msgp:tuple AutoContrast

// NewAutoContrast returns the op with Pillow's arithmetic, which leaves no
// pixels out.
func NewAutoContrast() *AutoContrast { return &AutoContrast{Backend: Pillow} }

// Info describes the op.
func (*AutoContrast) Info() Info {
	return Info{
		Name: "auto_contrast", Version: 1, New: func() Op { return NewAutoContrast() }, InPlace: true,
		Reference: "Pillow 13.0.0 ImageOps.autocontrast; torchvision 0.29.2 v2 autocontrast; MindSpore 2.10.0 vision.AutoContrast", Exactness: "0",
	}
}

// Validate checks the percentages, the values to ignore and the backend.
func (o *AutoContrast) Validate() error {
	if err := checkBounds("cutoff_low", o.CutoffLow, 0, 100); err != nil {
		return err
	}
	if err := checkBounds("cutoff_high", o.CutoffHigh, 0, 100); err != nil {
		return err
	}
	for i, v := range o.Ignore {
		if !holds(tensor.Uint8, v) {
			return paramErr("ignore[%d] is %v, want a whole number of 0 to 255", i, v)
		}
	}
	switch o.Backend {
	case Pillow:
	case Torch:
		if o.CutoffLow != 0 || o.CutoffHigh != 0 || len(o.Ignore) > 0 {
			return paramErr("cutoff_low %v, cutoff_high %v, ignore %v, want 0, 0 and none with backend torch",
				o.CutoffLow, o.CutoffHigh, []float64(o.Ignore))
		}
	case MindSpore:
		if o.CutoffLow != o.CutoffHigh || o.CutoffLow >= 50 {
			return paramErr("cutoff_low is %v, cutoff_high is %v, want one number below 50 with backend mindspore", o.CutoffLow, o.CutoffHigh)
		}
	default:
		return paramErr("backend is %v, want pillow, torch or mindspore", o.Backend)
	}
	return nil
}

// Infer keeps the description.
func (o *AutoContrast) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantToned(in[0], o.Backend)
}

// wantToned wants an image of one or three channels, uint8, or with torch
// float32.
func wantToned(d tensor.Desc, b Backend) error {
	dtypes := []tensor.DType{tensor.Uint8, tensor.Float32}
	if b != Torch {
		dtypes = dtypes[:1]
	}
	if err := wantImage(d, dtypes...); err != nil {
		return err
	}
	return wantChannels(d, 1, 3)
}

// Apply counts the values and looks the new ones up in a table.
func (o *AutoContrast) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Float32 {
		stretchFloats(dst[0], s)
		return nil
	}
	ch := s.Channels()
	tables := c.Scratch(256 * ch)
	var counts [3]histogram
	countValues(counts[:ch], s)
	for i := range ch {
		o.table(tables[i*256:][:256], &counts[i])
	}
	lookupChannels(dst[0], s, tables)
	return nil
}

// table fills the table of a channel, whose counts it changes.
func (o *AutoContrast) table(table []uint8, h *histogram) {
	for _, v := range o.Ignore {
		h[int(v)] = 0
	}
	n := h.sum()
	h.cut(o.pixels(n, o.CutoffLow), 0, 1)
	h.cut(o.pixels(n, o.CutoffHigh), 255, -1)
	lo, hi := h.bounds()
	for v := range table {
		table[v] = uint8(v)
	}
	if hi <= lo {
		return
	}
	switch o.Backend {
	case Pillow:
		scale := 255 / float64(hi-lo)
		offset := -float64(float64(lo) * scale)
		for v := range table {
			table[v] = clamp8(int32(float64(float64(v)*scale) + offset))
		}
	case MindSpore:
		scale := float32(255 / float64(hi-lo))
		offset := -float32(float32(lo) * scale)
		for v := range table {
			table[v] = clamp8(int32(float32(float32(v)*scale) + offset))
		}
	default:
		size := float32(float32(hi-lo) * (1. / 255))
		for v := range table {
			table[v] = clamp8(int32(float32(v-lo) / size))
		}
	}
}

// pixels returns how many of n pixels a percentage is.
func (o *AutoContrast) pixels(n int, percent float64) int {
	if o.Backend == MindSpore {
		percent = math.Trunc(percent)
	}
	p := float64(float64(n) * percent)
	return int((p - math.Mod(p, 100)) / 100)
}

// clampUnit clamps to 0..1. NaN and -0 stay.
func clampUnit(v float32) float32 {
	switch {
	case v < 0:
		return 0
	case v > 1:
		return 1
	}
	return v
}

// stretchFloats is AutoContrast of float32 images.
func stretchFloats(dst, src *tensor.Tensor) {
	in, out := tensor.View[float32](src), tensor.View[float32](dst)
	step, next := strides(src.Desc)
	n := src.Height() * src.Width()
	for c := range src.Channels() {
		from := in[c*next:]
		lo, hi := from[0], from[0]
		for i := range n {
			v := from[i*step]
			lo, hi = min(lo, v), max(hi, v) // NaN if a value is
		}
		size := hi - lo
		if lo == hi {
			lo, size = 0, 1
		}
		to := out[c*next:]
		for i := range n {
			to[i*step] = clampUnit((from[i*step] - lo) / size)
		}
	}
}
