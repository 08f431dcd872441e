package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// table maps the 256 values of each channel to entries of the final dtype and
// layout, 256 for each channel. Only update changes it.
type table struct {
	dtype  tensor.DType
	layout tensor.Layout
	data   []byte
	same   bool // every value maps to itself: the ops change the layout at most

	// linear computes float32 entries if their arithmetic is that of scale,
	// sub and factor, which are nil if it cannot be.
	linear             kernel.Linear
	scale, sub, factor []float64

	ops    []transforms.Op
	images []*tensor.Tensor // all values of every channel, then the output of each op
	ctx    []*transforms.Context
}

// newTable builds a table by running pointwise ops on an image with all values
// of every channel. ok is false if the ops cannot run.
func newTable(ops []transforms.Op, d tensor.Desc) (_ *table, ok bool) {
	ch := d.Channels()
	t, err := tensor.New(tensor.Image(tensor.Uint8, d.Layout, 1, 256, ch))
	if err != nil {
		return nil, false
	}
	for i := range t.Data {
		if d.Layout == tensor.HWC {
			t.Data[i] = uint8(i / ch)
		} else {
			t.Data[i] = uint8(i)
		}
	}
	r := &table{ops: ops, images: []*tensor.Tensor{t}}
	for _, op := range ops {
		var out [1]tensor.Desc
		if err := op.Infer(out[:], []tensor.Desc{t.Desc}); err != nil {
			return nil, false
		}
		if t, err = tensor.New(out[0]); err != nil {
			return nil, false
		}
		r.images = append(r.images, t)
		r.ctx = append(r.ctx, transforms.NewContext(codec.NoLimits()))
	}
	if !t.IsImage() || t.Height() != 1 || t.Width() != 256 || t.Channels() != ch {
		return nil, false
	}
	r.dtype, r.layout, r.data = t.DType, t.Layout, t.Data
	if t.Layout == tensor.HWC {
		r.data = tensor.Alloc(len(t.Data))
	}
	r.arithmetic()
	return r, r.update() == nil
}

// update computes the entries with the current parameters of the ops, which
// must not change the descriptions.
func (r *table) update() error {
	for i, op := range r.ops {
		r.ctx[i].Begin()
		if err := op.Apply(r.ctx[i], r.images[i+1:][:1], r.images[i:][:1]); err != nil {
			return err
		}
	}
	t := r.images[len(r.ops)]
	if ch, size := t.Channels(), t.DType.Size(); t.Layout == tensor.HWC {
		for c := range ch {
			for v := range 256 {
				copy(r.data[(c*256+v)*size:][:size], t.Data[(v*ch+c)*size:])
			}
		}
	}
	r.same = r.dtype == tensor.Uint8
	for i := 0; r.same && i < len(r.data); i++ {
		r.same = r.data[i] == uint8(i)
	}
	if r.factor != nil {
		r.linear.Fit(tensor.Cast[float32](r.data), r.scale, r.sub, r.factor)
	}
	return nil
}

// arithmetic sets scale, sub and factor to the numbers of the ops if these are
// a product, a difference and a product of float32. An op that is not Linear
// counts as one that keeps the values: update compares the results.
func (r *table) arithmetic() {
	if r.dtype != tensor.Float32 {
		return
	}
	for _, op := range r.ops {
		o, ok := op.(transforms.Linear)
		if !ok {
			continue
		}
		m, ok := o.Linear()
		if !ok || !r.subtract(m.Sub, 1) || !r.multiply(m.Mul, false) || !r.multiply(m.Div, true) || !r.subtract(m.Add, -1) {
			r.factor = nil
			return
		}
	}
	switch {
	case r.sub == nil: // one product
		r.scale, r.sub, r.factor = nil, []float64{0}, r.scale
		if r.factor == nil {
			r.factor = []float64{1}
		}
	case r.factor == nil:
		r.factor = []float64{1}
	}
}

// subtract adds sign*l to the numbers of arithmetic. It reports false if a
// difference does not come next.
func (r *table) subtract(l []float64, sign float64) bool {
	if !slices.ContainsFunc(l, func(v float64) bool { return v != 0 }) {
		return true
	}
	ok := r.sub == nil && r.factor == nil
	for _, v := range l {
		r.sub = append(r.sub, float64(sign*v))
	}
	return ok
}

// multiply adds a product, or a quotient, to the numbers of arithmetic. It
// reports false if it does not come next.
func (r *table) multiply(l []float64, quotient bool) bool {
	if l == nil {
		return true
	}
	list := &r.scale
	if r.sub != nil {
		list = &r.factor
	}
	ok := *list == nil
	for _, v := range l {
		if quotient {
			v = 1 / float64(float32(v))
		}
		*list = append(*list, v)
	}
	return ok
}

// output writes rows of uint8 pixels to a tensor, through a table if it has
// one.
type output struct {
	table *table
	ch    int
	line  int // the elements of an HWC row, or the pixels of a CHW row
	plane int // the elements of a CHW plane; 0 for HWC
	place placement
	u8    []uint8
	u16   []uint16
	u32   []int32
	u64   []int64
	f32   []float32 // the memory of u32 if it is float32
	t8    []uint8
	t16   []uint16
	t32   []int32
	t64   []int64
}

// begin takes the memory of an image d.
func (o *output) begin(d tensor.Desc, to []byte, t *table, ch int) {
	*o = output{table: t, ch: ch, line: d.Width() * ch}
	if d.Layout == tensor.CHW {
		o.line, o.plane = d.Width(), d.Width()*d.Height()
	}
	var data []byte
	if t != nil {
		data = t.data
	}
	switch d.DType.Size() {
	case 1:
		o.u8, o.t8 = to, data
	case 2:
		o.u16, o.t16 = tensor.Cast[uint16](to), tensor.Cast[uint16](data)
	case 4:
		o.u32, o.t32 = tensor.Cast[int32](to), tensor.Cast[int32](data)
		if d.DType == tensor.Float32 {
			o.f32 = tensor.Cast[float32](to)
		}
	case 8:
		o.u64, o.t64 = tensor.Cast[int64](to), tensor.Cast[int64](data)
	}
}

// row writes one or more whole rows, from row y on.
func (o *output) row(y int, pix []byte) {
	at := y * o.line
	switch {
	case o.place.active():
		o.place.rows(o, y, pix)
	case o.table == nil:
		copy(o.u8[at:], pix)
	case o.table.same && o.plane > 0:
		kernel.Deinterleave(o.u8[at:], o.plane, pix, o.ch)
	case o.u8 != nil:
		lookup(o, o.u8[at:], pix, o.t8)
	case o.u16 != nil:
		lookup(o, o.u16[at:], pix, o.t16)
	case o.u32 != nil:
		n := o.compute(at, pix)
		lookup(o, o.u32[at+n:], pix[n:], o.t32)
	default:
		lookup(o, o.u64[at:], pix, o.t64)
	}
}

// compute writes the first elements of rows without a look-up, from element at
// on, and returns how many.
func (o *output) compute(at int, pix []byte) int {
	switch {
	case o.f32 == nil:
		return 0
	case o.plane == 0:
		return o.table.linear.Row(o.f32[at:], pix)
	case o.table.linear.Planes(o.f32[at:], o.plane, pix, 0, len(pix)/o.ch, 1):
		return len(pix)
	}
	return 0
}

func lookup[T kernel.Word](o *output, dst []T, pix []byte, table []T) {
	if o.plane > 0 {
		kernel.LookupCHW(dst, o.plane, pix, o.ch, table)
	} else {
		kernel.LookupHWC(dst, pix, o.ch, table)
	}
}

// planes writes an image whose channels are planes, through the table.
func (o *output) planes(pix []byte) {
	switch {
	case o.table.same && o.plane == 0:
		kernel.Interleave(o.u8, pix, len(pix)/o.ch, o.ch)
	case o.u8 != nil:
		lookupPlanes(o, o.u8, pix, o.t8)
	case o.u16 != nil:
		lookupPlanes(o, o.u16, pix, o.t16)
	case o.u32 != nil:
		lookupPlanes(o, o.u32, pix, o.t32)
	default:
		lookupPlanes(o, o.u64, pix, o.t64)
	}
}

func lookupPlanes[T kernel.Word](o *output, dst []T, pix []byte, tables []T) {
	n := len(pix) / o.ch
	for c := range o.ch {
		in, table := pix[c*n:][:n], tables[c*256:][:256]
		if o.plane > 0 {
			kernel.LookupHWC(dst[c*n:][:n], in, 1, table)
			continue
		}
		for i, v := range in {
			dst[i*o.ch+c] = table[v]
		}
	}
}
