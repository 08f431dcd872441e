//go:build !small

package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// blocks is the last part of a fused op: it writes each row of the image into
// the blocks that the op cuts the image into, and the rows of another column
// before or behind them.
type blocks struct {
	op     transforms.Blocked      // the last of the fused op's ops
	concat transforms.Concatenated // nil for none
	second bool                    // the blocks are the second input of concat
}

// runPlaceBlocks merges fused steps with the steps that cut their image.
func runPlaceBlocks(p *Plan) {
	for i := 0; i+1 < len(p.steps); i++ {
		f, ok := p.steps[i].op.(*fused)
		if !ok || f.table == nil || f.table.layout != tensor.CHW || f.pointwise() || !p.feeds(i) {
			continue
		}
		cut := &p.steps[i+1]
		o, ok := cut.op.(transforms.Blocked)
		if !ok {
			continue
		}
		if _, ok = o.Blocks(f.out[0]); !ok {
			continue
		}
		g := *f
		g.ops = append(slices.Clone(f.ops), o)
		g.out = slices.Concat(p.descs(cut.out), f.out[1:])
		g.blocks = &blocks{op: o}
		p.replace(i, 2, &g, PlaceBlocks)
		p.concatBlocks(i, &g)
	}
}

// concatBlocks merges step i, which runs f, with a step that puts its blocks
// and another column together.
func (p *Plan) concatBlocks(i int, f *fused) {
	if i+1 == len(p.steps) {
		return
	}
	next := &p.steps[i+1]
	o, ok := next.op.(transforms.Concatenated)
	if !ok || next.in[0] == next.in[1] {
		return
	}
	v := p.steps[i].out[0]
	second := next.in[1] == v
	if !second && next.in[0] != v || slices.Contains(p.outputs, v) {
		return
	}
	for _, s := range p.steps[i+2:] {
		if slices.Contains(s.in, v) {
			return
		}
	}
	other := next.in[0]
	if !second {
		other = next.in[1]
	}
	if slices.Contains(p.steps[i].out, other) {
		return
	}
	f.blocks.concat, f.blocks.second = o, second
	f.out = slices.Concat(p.descs(next.out), f.out[1:])
	p.replace(i, 2, f, PlaceBlocks)
	p.steps[i].in = append(slices.Clone(p.steps[i].in), other)
}

// infer replaces dst[0], the description of the blocks of an image d, by that
// of the output. pair is memory for two.
func (b *blocks) infer(d tensor.Desc, dst, pair []tensor.Desc, src []*tensor.Tensor) error {
	if _, ok := b.op.Blocks(d); !ok { // a random op drew other parameters
		return errDeclined
	}
	if b.concat == nil {
		return nil
	}
	pair[0], pair[1] = dst[0], src[1].Desc
	if b.second {
		pair[0], pair[1] = pair[1], pair[0]
	}
	return b.concat.Infer(dst[:1], pair)
}

// names appends the name of the op that puts columns together.
func (b *blocks) names(l []string) []string {
	if b != nil && b.concat != nil {
		l = append(l, transforms.InfoOf(b.concat).Name)
	}
	return l
}

// report writes the outputs of the op after the first.
func (b *blocks) report(dst []*tensor.Tensor, in []tensor.Desc) {
	if o, ok := b.op.(transforms.Reported); ok {
		o.Report(dst, in)
	}
}

// body copies the rows of the other column, and returns the memory of the
// blocks, which d describes.
func (b *blocks) body(c *transforms.Context, d tensor.Desc, dst *tensor.Tensor, src []*tensor.Tensor) ([]byte, error) {
	if b.concat == nil {
		return dst.Data, nil
	}
	other, err := c.Dense(src[1])
	if err != nil {
		return nil, err
	}
	mine, its := b.concat.Kept(d, other.Desc)
	if b.second {
		its, mine = b.concat.Kept(other.Desc, d)
	}
	switch n := int(d.Size()); {
	case !mine:
		return nil, errDeclined
	case !its:
		return dst.Data, nil
	case b.second:
		return dst.Data[copy(dst.Data, other.Data):], nil
	default:
		copy(dst.Data[n:], other.Data)
		return dst.Data[:n], nil
	}
}

// placement says where rows of an image go. Rows of narrow blocks wait in a
// stage until a row of blocks is complete: a block is then written as a whole.
type placement struct {
	transforms.Blocks
	columns int // blocks in a row; 0 for an image

	// stage has rows lo to hi of the image's rows that the blocks of row show.
	// It is nil for wide blocks.
	stage       []byte
	packed      []byte // the pixels of some blocks, one block after the other
	values      []byte // and their elements
	row, lo, hi int
}

// wideBlock is the width in pixels from which rows of blocks are written as
// they come.
const wideBlock = 64

// maxStaged is about how many elements are looked up at a time, so that they
// stay in the cache.
const maxStaged = 1 << 13

// begin sets o.place for an image d.
func (b *blocks) begin(c *transforms.Context, o *output, d tensor.Desc) {
	g, _ := b.op.Blocks(d)
	o.place = placement{Blocks: g, columns: d.Width() / g.Width}
	if g.Copies > 1 || g.Width < min(wideBlock, d.Width()) {
		n := d.Channels() * g.Height
		o.place.stage = c.Scratch(d.Width() * n)
		// The tables of a look-up are loaded for each call.
		some := max(1, min(d.Width(), maxStaged/n)/g.Width) * g.Width * n
		o.place.packed, o.place.values = c.Scratch(some), c.Scratch(some*d.DType.Size())
	}
}

func (p *placement) active() bool { return p.columns > 0 }

// at returns the first element of block k of a row of blocks.
func (p *placement) at(row, k int) int {
	m := p.Merge
	return (row/m*(p.columns/m)+k/m)*m*m*p.Size + (row%m*m+k%m)*p.Size
}

// rows writes whole rows, from row y on.
func (p *placement) rows(o *output, y int, pix []byte) {
	n := o.line * o.ch
	for ; len(pix) > 0; y, pix = y+1, pix[n:] {
		row, top := y/p.Height, y%p.Height
		if p.stage == nil {
			p.row, p.lo, p.hi = row, top, top+1
			p.write(o, pix[:n])
			p.lo = p.hi
			continue
		}
		if p.lo < p.hi && (row != p.row || top != p.hi) {
			p.end(o)
		}
		if p.lo == p.hi {
			p.row, p.lo, p.hi = row, top, top
		}
		copy(p.stage[top*n:], pix[:n])
		if p.hi++; p.hi == p.Height {
			p.end(o)
		}
	}
}

// end writes the rows in the stage.
func (p *placement) end(o *output) {
	if p.lo < p.hi {
		p.write(o, p.stage[p.lo*o.line*o.ch:])
		p.lo = p.hi
	}
}

// write writes rows lo to hi of a row of blocks. pix begins with the first of
// them.
func (p *placement) write(o *output, pix []byte) {
	switch {
	case p.compute(o, pix):
	case o.u8 != nil:
		writeBlocks(p, o, o.u8, pix, o.t8)
	case o.u16 != nil:
		writeBlocks(p, o, o.u16, pix, o.t16)
	case o.u32 != nil:
		writeBlocks(p, o, o.u32, pix, o.t32)
	default:
		writeBlocks(p, o, o.u64, pix, o.t64)
	}
}

// compute writes the rows without a look-up, or reports false.
func (p *placement) compute(o *output, pix []byte) bool {
	if o.f32 == nil {
		return false
	}
	n, w := (p.hi-p.lo)*p.Width, p.Width*o.ch
	for k := range p.columns {
		to := o.f32[p.at(p.row, k)+p.lo*p.Width:]
		if !o.table.linear.Planes(to, p.Plane, pix[k*w:], o.line*o.ch, p.Width, p.hi-p.lo) {
			return false
		}
		for c := range o.ch {
			from := to[c*p.Plane:]
			for f := 1; f < p.Copies; f++ {
				copy(from[f*p.Step:], from[:n])
			}
		}
	}
	return true
}

// writeBlocks looks the rows up.
func writeBlocks[T interface {
	kernel.Word
	tensor.Elem
}](p *placement, o *output, dst []T, pix []byte, table []T) {
	n, ch := (p.hi-p.lo)*p.Width, o.ch
	w, stride := p.Width*ch, o.line*ch
	if p.stage == nil {
		for k := range p.columns {
			kernel.LookupCHW(dst[p.at(p.row, k)+p.lo*n:], p.Plane, pix[k*w:][:w], ch, table)
		}
		return
	}
	values := tensor.Cast[T](p.values)
	some := len(values) / (p.Height * w) // blocks that are looked up together
	for k := 0; k < p.columns; k += some {
		blocks := min(some, p.columns-k)
		packed := p.packed[:0]
		for j := range blocks {
			for y := range p.hi - p.lo {
				packed = append(packed, pix[y*stride+(k+j)*w:][:w]...)
			}
		}
		m := blocks * n
		kernel.LookupCHW(values, m, packed, ch, table)
		for j := range blocks {
			to := dst[p.at(p.row, k+j)+p.lo*p.Width:]
			for c := range ch {
				from := values[c*m+j*n:][:n]
				for f := range p.Copies {
					copy(to[c*p.Plane+f*p.Step:], from)
				}
			}
		}
	}
}
