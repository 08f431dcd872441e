package datagraph

import (
	"errors"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// fused is an op that does the work of several steps of the graph. It decodes
// an image, applies frames, scales, applies more frames, looks values up in a
// table, and writes them as blocks; every part is optional. It works on rows
// (see rowRun) and keeps no image between its parts. It declines sizes that it
// cannot handle.
type fused struct {
	ops    []transforms.Op // the ops that it replaces, in order
	source tensor.Desc     // the image that it reads or decodes; sizes may be unknown
	out    []tensor.Desc

	decode transforms.RowSource
	before []transforms.Framed
	scale  transforms.Scaled
	after  []transforms.Framed
	blocks *blocks // nil if the output is an image
	swap   bool    // decode writes BGR in place of RGB; the fill is swapped to match
	table  *table

	region bool // decode only the needed pixels
	rows   bool // process rows as they are decoded; false decodes the region first
}

// errDeclined reports sizes that a fused op cannot handle. The Runner then runs
// the plan without passes.
var errDeclined = errors.New("not fused for these sizes")

// partOf returns an op as a fused op, or nil if the op cannot be part of one.
func partOf(op transforms.Op, in, out []tensor.Desc) *fused {
	if f, ok := op.(*fused); ok {
		return f
	}
	f := &fused{ops: []transforms.Op{op}, source: in[0], out: out}
	switch o := op.(type) {
	case transforms.RowSource:
		f.decode, f.source = o, out[0]
		return f
	case transforms.Framed:
		f.before = []transforms.Framed{o}
	case transforms.Scaled:
		if !scales(o) {
			return nil
		}
		f.scale = o
	case transforms.Swap:
		if !o.Swaps() {
			return nil
		}
		f.swap = true
	default:
		return nil
	}
	if !isPixels(in[0]) {
		return nil
	}
	return f
}

// isPixels reports whether rows of d can be processed: uint8, HWC, and a known
// number of channels.
func isPixels(d tensor.Desc) bool {
	return d.IsImage() && d.DType == tensor.Uint8 && d.Layout == tensor.HWC && d.Channels() > 0
}

// scales reports whether rowTables supports the op's sampling.
func scales(o transforms.Scaled) bool {
	i, b, antialias := o.Sampling()
	switch b {
	case transforms.Pillow:
		return antialias || i == transforms.Nearest || i == transforms.NearestExact
	case transforms.TorchUint8:
		return true
	case transforms.OpenCV:
		return i == transforms.Bilinear || i == transforms.Nearest || i == transforms.NearestExact
	}
	return false
}

// geometry reports whether the op moves pixels.
func (f *fused) geometry() bool { return f.scale != nil || len(f.before)+len(f.after) > 0 }

// cuts reports whether the op ignores parts of a large image.
func (f *fused) cuts() bool {
	const large = 1 << 24
	cut := func(f transforms.Frame) bool { return f.Height < large || f.Width < large }
	for _, o := range append(append([]transforms.Framed(nil), f.before...), f.after...) {
		if cut(o.Frame(large, large)) {
			return true
		}
	}
	if f.scale == nil {
		return false
	}
	s, err := f.scale.Scale(large, large, nil)
	return err == nil && cut(s.Cut)
}

// join returns the op that does a and then b, or nil if they cannot be joined.
// The op b must be the only reader of the first output of a, and must read
// nothing else.
func join(a, b *fused) *fused {
	if b.decode != nil || a.table != nil || a.swap && (a.decode == nil || b.geometry()) {
		return nil
	}
	f := *a
	if b.swap {
		if a.decode == nil || !f.exchange() {
			return nil
		}
	}
	f.ops = append(append([]transforms.Op(nil), a.ops...), b.ops...)
	f.out = append(append([]tensor.Desc(nil), b.out...), a.out[1:]...)
	f.table = b.table
	f.region, f.rows = a.region || b.region, a.rows || b.rows
	switch {
	case a.scale == nil:
		f.before = append(append([]transforms.Framed(nil), a.before...), b.before...)
		f.scale, f.after = b.scale, b.after
		if f.scale == nil {
			break
		}
		if _, backend, _ := f.scale.Sampling(); backend == transforms.OpenCV && len(f.before) > 0 {
			return nil // the tables of OpenCV do not support mirrored input
		}
	case b.scale != nil:
		return nil
	default:
		f.after = append(append([]transforms.Framed(nil), a.after...), b.before...)
	}
	return &f
}

// exchange makes decode write its colours in the opposite order. The ops
// between treat every channel alike. ok is false if the decoded colours have no
// order.
func (f *fused) exchange() (ok bool) {
	d, ok := f.decode.Swapped()
	if ok {
		f.decode, f.swap = d, !f.swap
	}
	return ok
}

// Validate returns nil: the graph's ops were validated.
func (f *fused) Validate() error { return nil }

// Infer returns what is known at compile time. InferData adds the sizes.
func (f *fused) Infer(dst, _ []tensor.Desc) error {
	copy(dst, f.out)
	return nil
}

// fusedState is the memory that a fused op keeps between runs.
type fusedState struct {
	decode *transforms.Context
	tables rowTables
	run    rowRun
	whole  regionImage
	in     [1]tensor.Desc
	pair   [2]tensor.Desc
	out    []tensor.Desc
	one    []tensor.Desc   // the outputs of one op
	seen   []tensor.Tensor // the input of each op, without data
	outs   []int           // the number of outputs of each op
	src    [1]*tensor.Tensor
}

func (f *fused) state(c *transforms.Context) *fusedState {
	s, ok := c.State.(*fusedState)
	if !ok {
		s = &fusedState{decode: c.Sibling(), out: make([]tensor.Desc, len(f.out)), one: make([]tensor.Desc, len(f.out)), seen: make([]tensor.Tensor, len(f.ops))}
		for _, op := range f.ops {
			s.outs = append(s.outs, len(transforms.InfoOf(op).Out))
		}
		s.tables.f, s.run.rowTables = f, &s.tables
		c.State = s
	}
	return s
}

// InferData reads the image's size and builds the tables for it.
func (f *fused) InferData(c *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	s := f.state(c)
	if f.decode != nil {
		if err := f.decode.InferData(s.decode, s.in[:], src); err != nil {
			return err
		}
	} else {
		s.in[0] = src[0].Desc
	}
	if err := f.prepare(c, s, s.in[0]); err != nil {
		return err
	}
	copy(dst, s.out)
	if f.blocks != nil {
		return f.blocks.infer(s.seen[len(f.ops)-1].Desc, dst, s.pair[:], src)
	}
	return nil
}

// prepare builds the tables for an image, unless they are those of the last
// image.
func (f *fused) prepare(c *transforms.Context, s *fusedState, d tensor.Desc) error {
	t := &s.tables
	if t.source == d {
		return nil
	}
	t.source = tensor.Desc{}
	if err := f.infer(s, d); err != nil {
		return err
	}
	if !f.pointwise() {
		image := s.out[0]
		if f.blocks != nil {
			image = s.seen[len(f.ops)-1].Desc
		}
		if err := t.prepare(d, image); err != nil {
			return err
		}
	}
	if n := t.bytes(); c.Limits.Bytes > 0 && n > c.Limits.Bytes {
		return errDeclined
	}
	t.source = d
	return nil
}

// pointwise reports whether the op is only a table, for the pixels of a tensor.
func (f *fused) pointwise() bool {
	return f.table != nil && f.decode == nil && !f.geometry() && !f.swap
}

// infer calls Infer of every op. If one fails, the fused op declines.
func (f *fused) infer(s *fusedState, d tensor.Desc) error {
	at := len(s.out)
	s.in[0] = d
	for i, op := range f.ops {
		if i == 0 && f.decode != nil {
			s.out[0] = d
			continue
		}
		n := s.outs[i]
		out := s.one[:n]
		if err := op.Infer(out, s.in[:]); err != nil {
			return err
		}
		s.seen[i].Desc = s.in[0]
		// The side outputs of later ops come before those of earlier ones.
		if _, ok := op.(transforms.DescOnly); ok {
			copy(s.out[at-n:at], out)
			at -= n
			continue
		}
		copy(s.out[at-(n-1):at], out[1:])
		at -= n - 1
		s.out[0], s.in[0] = out[0], out[0]
	}
	return nil
}

// Apply runs the op.
func (f *fused) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s := f.state(c)
	w := &s.run
	if err := f.side(c, s, dst); err != nil {
		return err
	}
	w.body = dst[0].Data
	if f.blocks != nil {
		var err error
		if w.body, err = f.blocks.body(c, s.out[0], dst[0], src); err != nil {
			return err
		}
	}
	if f.decode == nil {
		t, err := c.Dense(src[0])
		if err != nil {
			return err
		}
		if f.pointwise() {
			w.out.begin(dst[0].Desc, dst[0].Data, f.table, t.Channels())
			if t.Layout == tensor.CHW {
				w.out.planes(t.Data)
			} else {
				w.out.row(0, t.Data)
			}
			w.release()
			return nil
		}
		w.begin(c)
		w.image(t)
		return w.end()
	}
	if f.rows {
		w.begin(c)
		if err := f.decode.ApplyRows(s.decode, w, w.region, src[0]); err != nil {
			w.release()
			return err
		}
		return w.end()
	}
	s.whole.pix = c.Scratch(w.region.Height * w.region.Width * w.ch)[:0]
	if err := f.decode.ApplyRows(s.decode, &s.whole, w.region, src[0]); err != nil {
		return err
	}
	w.begin(c)
	if len(s.whole.pix) == w.region.Height*w.region.Width*w.ch {
		w.Rows(w.region.Top, w.region.Height, s.whole.pix)
	}
	s.whole.pix = nil
	return w.end()
}

// side writes the outputs after the first, at the positions that infer
// assigned.
func (f *fused) side(c *transforms.Context, s *fusedState, dst []*tensor.Tensor) error {
	at := len(dst)
	for i, op := range f.ops {
		if at == 1 {
			break
		}
		n := s.outs[i]
		var err error
		if _, ok := op.(transforms.DescOnly); ok {
			s.src[0] = &s.seen[i]
			err = op.Apply(c, dst[at-n:at], s.src[:])
			at -= n
		} else if n > 1 && f.blocks != nil && i == len(f.ops)-1 {
			s.in[0] = s.seen[i].Desc
			f.blocks.report(dst[at-n:at], s.in[:])
			at -= n - 1
		} else if n > 1 {
			_, err = f.scale.Scale(s.tables.scaleH, s.tables.scaleW, dst[at-(n-1):at])
			at -= n - 1
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// regionImage collects all rows.
type regionImage struct{ pix []byte }

func (r *regionImage) Rows(_, _ int, pix []byte) { r.pix = append(r.pix, pix...) }

var _ codec.RowSink = (*regionImage)(nil)

// Info has the names of the ops, joined by "+".
func (f *fused) Info() transforms.Info {
	var l []string
	for _, op := range f.ops {
		l = append(l, transforms.InfoOf(op).Name)
	}
	return transforms.Info{Name: strings.Join(f.blocks.names(l), "+")}
}
