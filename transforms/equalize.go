package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Equalize spreads the values of each channel so that all of them come about
// equally often. It takes a uint8 image of one or three channels, HWC or CHW,
// with torch also a float32 image, and keeps the description.
//
// below(v) is the number of pixels with a value less than v, n the number of
// all pixels, and last the number of those with the greatest value.
//
//   - Pillow, Torch: with step = floor((n-last)/255), a value v becomes
//     floor((below(v) + floor(step/2)) / step), at most 255. If step is 0, the
//     channel keeps its values.
//   - OpenCV: with first, the number of pixels with the least value, a value v
//     becomes (below(v+1)-first) * (255/(n-first)). Quotient and product are
//     float32; the product is rounded half to even. If all values are equal,
//     the channel keeps them.
//
// With torch, a float32 value v first becomes the uint8 floor(v*255.999),
// clipped to 0..255, and the result is multiplied by 1/255, all in float32. NaN
// becomes 0. torch does not define the results of values outside 0..1.
//
// Reference: Pillow 13.0.0, ImageOps.equalize; torchvision 0.29.2, v2's
// equalize; OpenCV 5.0.0, equalizeHist of each channel, as MindSpore 2.10.0's
// vision.Equalize of an array.
type Equalize struct {
	Backend Backend `json:"backend"` // pillow, opencv or torch; default pillow
}

//msgp:tuple Equalize

// NewEqualize returns the op with Pillow's arithmetic.
func NewEqualize() *Equalize { return &Equalize{Pillow} }

// Info describes the op.
func (*Equalize) Info() Info {
	return Info{
		Name: "equalize", Version: 1, New: func() Op { return NewEqualize() }, InPlace: true,
		Reference: "Pillow 13.0.0 ImageOps.equalize; torchvision 0.29.2 v2 equalize; OpenCV 5.0.0 equalizeHist, MindSpore 2.10.0 vision.Equalize", Exactness: "0",
	}
}

// Validate checks the backend.
func (o *Equalize) Validate() error { return checkLibrary(o.Backend) }

// Infer keeps the description.
func (o *Equalize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantToned(in[0], o.Backend)
}

// Apply counts the values and looks the new ones up in a table.
func (o *Equalize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	floats := s
	if s.DType == tensor.Float32 {
		d := s.Desc
		d.DType = tensor.Uint8
		if s, err = c.Temp(d); err != nil {
			return err
		}
		out := s.Data[:s.Len()]
		for i, v := range tensor.View[float32](floats)[:len(out)] {
			out[i] = unitTo8(v)
		}
	}
	ch := s.Channels()
	tables := c.Scratch(256 * ch)
	var counts [3]histogram
	countValues(counts[:ch], s)
	for i := range ch {
		table := tables[i*256:][:256]
		if o.Backend == OpenCV {
			equalizeCV(table, &counts[i])
		} else {
			equalizeSteps(table, &counts[i])
		}
	}
	if s == floats {
		lookupChannels(dst[0], s, tables)
		return nil
	}
	lookupChannels(s, s, tables)
	out := tensor.View[float32](dst[0])
	for i, v := range s.Data[:len(out)] {
		out[i] = float32(float32(v) * (1. / 255))
	}
	return nil
}

// unitTo8 is v2's conversion of a float32 value of 0 to 1 to uint8.
func unitTo8(v float32) uint8 {
	v = float32(v * 255.999)
	switch {
	case !(v > 0):
		return 0
	case v > 255:
		return 255
	}
	return uint8(v)
}

// equalizeSteps fills the table of a channel as Pillow does.
func equalizeSteps(table []uint8, h *histogram) {
	_, hi := h.bounds()
	step := (h.sum() - h[hi]) / 255
	n := step / 2
	for v := range table {
		table[v] = uint8(v)
		if step > 0 {
			table[v] = uint8(min(n/step, 255))
		}
		n += h[v]
	}
}

// equalizeCV fills the table of a channel as OpenCV does.
func equalizeCV(table []uint8, h *histogram) {
	lo, hi := h.bounds()
	for v := range table {
		table[v] = uint8(v)
	}
	if lo == hi {
		return
	}
	scale := 255 / float32(h.sum()-h[lo])
	n := 0
	for v := range table {
		if v > lo {
			n += h[v]
		}
		table[v] = round8(float32(float32(n) * scale))
	}
}
