package gpu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// pickStep runs a step that moves pixels.
func (s *Runner) pickStep(op transforms.Op, v *value, out tensor.Desc) (*image, error) {
	in, err := s.image(v)
	if err != nil {
		return nil, err
	}
	if in != v.gpu {
		defer s.mem.Put(in.buf)
	}
	if f, ok := op.(transforms.Framed); ok {
		return s.frame(in, f.Frame(v.desc.Height(), v.desc.Width()))
	}
	fill := []float64{0}
	if b, ok := op.(transforms.Bordered); ok {
		var own []float64
		if op, own = b.WithFill([]float64{-1}); own != nil {
			fill = own
		}
	}
	// The op itself tells where pixels come from: it runs on the numbers of the
	// columns, then of the rows.
	xs, err := places(op, v.desc.Width(), false)
	if err != nil {
		return nil, err
	}
	ys, err := places(op, v.desc.Height(), true)
	if err != nil {
		return nil, err
	}
	return s.pick(in, out.Height(), out.Width(), xs, ys, fill)
}

// places returns the input row or column that each output row or column comes
// from, -1 for the fill. It runs op, whose fill must be -1, on an image of one
// column or row that holds its n pixels' numbers.
func places(op transforms.Op, n int, rows bool) ([]int32, error) {
	d := tensor.Image(tensor.Int32, tensor.HWC, 1, n, 1)
	if rows {
		d = d.WithSize(n, 1)
	}
	t, err := tensor.New(d)
	if err != nil {
		return nil, err
	}
	for i, v := 0, tensor.View[int32](t); i < len(v); i++ {
		v[i] = int32(i)
	}
	if t, err = apply(op, t); err != nil {
		return nil, err
	}
	v, w := tensor.View[int32](t), t.Width()
	l := make([]int32, w)
	if rows {
		l = make([]int32, t.Height())
	}
	for i := range l {
		l[i] = -1
	}
	// In an output column or row, all values other than -1 are equal.
	for i, p := range v {
		j := i % w
		if rows {
			j = i / w
		}
		l[j] = max(l[j], p)
	}
	return l, nil
}

// frame crops, pads and flips an image as f says.
func (s *Runner) frame(in *image, f transforms.Frame) (*image, error) {
	fill := f.Fill
	if len(fill) == 0 {
		fill = []float64{0}
	}
	return s.pick(in, f.Height, f.Width,
		window(f.Left, f.Width, in.desc.Width(), f.FlipX), window(f.Top, f.Height, in.desc.Height(), f.FlipY), fill)
}

// window returns the sources of the n pixels from start on, in an axis of size
// pixels. A pixel outside the axis is -1.
func window(start, n, size int, flip bool) []int32 {
	l := make([]int32, n)
	for i := range l {
		at := start + i
		if flip {
			at = start + n - 1 - i
		}
		if at < 0 || at >= size {
			at = -1
		}
		l[i] = int32(at)
	}
	return l
}

// isWhole reports whether a frame shows an image of h x w unchanged.
func isWhole(f transforms.Frame, h, w int) bool {
	return f.Top == 0 && f.Left == 0 && f.Height == h && f.Width == w && !f.FlipX && !f.FlipY
}

// pick makes an image of h x w from the source columns xs and rows ys. -1
// stands for the fill.
func (s *Runner) pick(in *image, h, w int, xs, ys []int32, fill []float64) (*image, error) {
	out := in.desc.WithSize(h, w)
	filled, err := fillOf(in.desc, fill)
	if err != nil {
		return nil, err
	}
	// The kernel does not check the indices.
	for i, l := range [][]int32{xs, ys} {
		want, below := []int{w, h}[i], int32([]int{in.desc.Width(), in.desc.Height()}[i])
		if len(l) != want || slices.ContainsFunc(l, func(p int32) bool { return p < -1 || p >= below }) {
			return nil, fmt.Errorf("webgpu: %d places below %d, want %d below %d", len(l), slices.Max(l), want, below)
		}
	}
	var t []byte
	for _, l := range [][]int32{xs, ys} {
		for _, i := range l {
			t = binary.LittleEndian.AppendUint32(t, uint32(i))
		}
	}
	size := in.desc.DType.Size()
	for c := range in.desc.Channels() {
		var e [4]byte
		copy(e[:], filled[c*size:][:size])
		t = append(t, e[:]...)
	}
	table, err := s.mem.Upload(t)
	if err != nil {
		return nil, err
	}
	b, err := s.mem.Get(out.Size())
	if err != nil {
		return nil, err
	}
	chw := in.desc.Layout == tensor.CHW
	err = s.mem.Run(Pick, b, in.buf, table, Params{
		Total: out.Len(), Size: size, CHW: chw, W: w, H: h, Ch: in.desc.Channels(), SW: in.desc.Width(), SH: in.desc.Height(), SCHW: chw,
	})
	s.mem.Put(table)
	return &image{out, b}, err
}

// fillOf returns a fill's elements, one for each channel, as Pad writes them.
func fillOf(d tensor.Desc, fill []float64) ([]byte, error) {
	t, err := tensor.New(tensor.Image(d.DType, tensor.HWC, 1, 1, d.Channels()))
	if err != nil {
		return nil, err
	}
	p := transforms.NewPad(0, 1, 0, 0)
	p.Fill = fill
	if t, err = apply(p, t); err != nil {
		return nil, err
	}
	return t.Data[len(t.Data)/2:], nil
}

// scaling holds the weights of a scaling step on the device.
type scaling struct{ x, y axis }

// axis holds the weights of one axis.
type axis struct {
	how     sampling
	in, out int
	taps    kernel.Taps
	buf     Buffer
}

// sampling is the method of a scaling.
type sampling struct {
	filter    transforms.Interpolation
	backend   transforms.Backend
	antialias bool
}

// keep marks the weights' memory as used, at the start of a run.
func (s *Runner) keep(c *scaling) {
	if c == nil {
		return
	}
	for _, a := range []*axis{&c.x, &c.y} {
		if a.buf != nil {
			s.mem.Keep(a.buf)
		}
	}
}

var filters = map[transforms.Interpolation]kernel.Filter{
	transforms.Box: kernel.FilterBox, transforms.Bilinear: kernel.FilterBilinear, transforms.Hamming: kernel.FilterHamming,
	transforms.Bicubic: kernel.FilterBicubic, transforms.Lanczos: kernel.FilterLanczos,
}

var torchFilters = map[transforms.Interpolation]kernel.TorchFilter{
	transforms.Bilinear: kernel.TorchLinear, transforms.Bicubic: kernel.TorchCubic, transforms.Lanczos: kernel.TorchLanczos,
}

// load copies the weights to the device. Sums fit 32 bits: a filter's weights
// sum to 2^22, and those of one sign to less than 1.3 times that. Multiplied by
// bytes, with the half for rounding, they stay below 2^31. (Otherwise both the
// kernel and the CPU would wrap.)
func (a *axis) load(s *Runner, how sampling, in, out int) error {
	if a.buf != nil && a.how == how && a.in == in && a.out == out {
		return nil
	}
	s.mem.Put(a.buf)
	a.buf = nil
	t := &a.taps
	if need := 4 * int64(out) * int64(in/out*6+16); need > s.mem.Largest() {
		return TooLargef("weights of %d bytes, the most of one buffer is %d", need, s.mem.Largest())
	}
	if how.backend == transforms.Pillow {
		t.Pillow(in, out, 0, out, filters[how.filter], false)
	} else {
		t.TorchU8(in, out, 0, out, torchFilters[how.filter], how.antialias)
	}
	b := make([]byte, 0, 4*(2*out+out*t.K))
	for i := range out {
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Start[i]))
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Len[i]))
	}
	for _, w := range t.W32[:out*t.K] {
		b = binary.LittleEndian.AppendUint32(b, uint32(w))
	}
	var err error
	a.buf, err = s.mem.Upload(b)
	a.how, a.in, a.out = how, in, out
	return err
}

// rows returns the range of input rows that the outputs from lo to hi read.
func (a *axis) rows(lo, hi int) (first, end int) {
	first, end = a.in, 0
	for i := lo; i < hi; i++ {
		first = min(first, int(a.taps.Start[i]))
		end = max(end, int(a.taps.Start[i]+a.taps.Len[i]))
	}
	return first, end
}

// scaleStep runs a scaling with its crop before and its placement after.
func (s *Runner) scaleStep(step int, op transforms.Scaled, v *value, out tensor.Desc, side []*tensor.Tensor) (*image, error) {
	h, w := v.desc.Height(), v.desc.Width()
	sc, err := op.Scale(h, w, side)
	if err != nil {
		return nil, err
	}
	var how sampling
	how.filter, how.backend, how.antialias = op.Sampling()
	var in *image
	switch {
	case !isWhole(sc.Cut, h, w):
		whole, err := s.image(v)
		if err != nil {
			return nil, err
		}
		if in, err = s.frame(whole, sc.Cut); err != nil {
			return nil, err
		}
	case nearest(how.filter) || v.gpu != nil || v.desc.Size() <= s.bandBytes():
		if in, err = s.image(v); err != nil {
			return nil, err
		}
	}
	ch, w, h := v.desc.Channels(), sc.Cut.Width, sc.Cut.Height
	scaled := in
	switch {
	case sc.Height == h && sc.Width == w:
		if in == nil {
			scaled, err = s.image(v)
		}
	case nearest(how.filter):
		xs, ys := make([]int32, sc.Width), make([]int32, sc.Height)
		rule := kernel.NearestPillow
		switch {
		case how.backend == transforms.Pillow:
		case how.filter == transforms.Nearest:
			rule = kernel.NearestTorch
		default:
			rule = kernel.NearestExactTorch(sc.Height, sc.Width)
		}
		rule(xs, w, sc.Width)
		rule(ys, h, sc.Height)
		scaled, err = s.pick(in, sc.Height, sc.Width, xs, ys, []float64{0})
	default:
		if s.scales[step] == nil {
			s.scales[step] = &scaling{}
		}
		c := s.scales[step]
		if w != sc.Width {
			if err := c.x.load(s, how, w, sc.Width); err != nil {
				return nil, err
			}
		}
		if h != sc.Height {
			if err := c.y.load(s, how, h, sc.Height); err != nil {
				return nil, err
			}
		}
		z := passes{s: s, c: c, ch: ch, w: w, h: h, ow: sc.Width, oh: sc.Height, verticalFirst: sc.VerticalFirst}
		if in == nil {
			scaled, err = z.banded(v.host)
		} else {
			scaled, err = z.whole(in)
		}
	}
	if err != nil {
		return nil, err
	}
	if in != nil && in != v.gpu && in != scaled {
		s.mem.Put(in.buf)
	}
	if isWhole(sc.Place, sc.Height, sc.Width) {
		return scaled, nil
	}
	placed, err := s.frame(scaled, sc.Place)
	if err == nil && scaled != v.gpu {
		s.mem.Put(scaled.buf)
	}
	return placed, err
}

// passes holds the sizes of one scaling of uint8 HWC.
type passes struct {
	s             *Runner
	c             *scaling
	ch            int
	w, h, ow, oh  int
	verticalFirst bool
}

func (z *passes) image(h, w int) (*image, error) {
	d := tensor.Image(tensor.Uint8, tensor.HWC, h, w, z.ch)
	b, err := z.s.mem.Get(d.Size())
	return &image{d, b}, err
}

// horizontal scales rows into dst, from its row first on. first is a multiple
// of 4, so that the output starts at a whole word.
func (z *passes) horizontal(dst, src *image, rows, first int) error {
	return z.s.mem.Run(Horizontal, dst.buf, src.buf, z.c.x.buf, Params{
		Total: int64(rows) * int64(z.ow) * int64(z.ch), Size: 1, W: z.ow, Ch: z.ch, SW: z.w, Weights: z.c.x.taps.K, First: first * z.ow * z.ch / 4,
	})
}

// vertical computes the output rows lo to hi, of width w, into dst from its row
// first on. first is a multiple of 4. src starts with the input's row base.
func (z *passes) vertical(dst, src *image, w, lo, hi, base, first int) error {
	return z.s.mem.Run(Vertical, dst.buf, src.buf, z.c.y.buf, Params{
		Total: int64(hi-lo) * int64(w) * int64(z.ch), Size: 1, H: lo, Ch: z.ch, SW: w, SH: z.oh, Base: base, Weights: z.c.y.taps.K,
		First: first * w * z.ch / 4,
	})
}

// whole scales an image on the device.
func (z *passes) whole(in *image) (*image, error) {
	switch {
	case z.h == z.oh:
		out, err := z.image(z.oh, z.ow)
		if err != nil {
			return nil, err
		}
		return out, z.horizontal(out, in, z.h, 0)
	case z.w == z.ow:
		out, err := z.image(z.oh, z.ow)
		if err != nil {
			return nil, err
		}
		return out, z.vertical(out, in, z.w, 0, z.oh, 0, 0)
	}
	mh, mw := z.h, z.ow
	if z.verticalFirst {
		mh, mw = z.oh, z.w
	}
	mid, err := z.image(mh, mw)
	if err != nil {
		return nil, err
	}
	defer z.s.mem.Put(mid.buf)
	out, err := z.image(z.oh, z.ow)
	if err != nil {
		return nil, err
	}
	if z.verticalFirst {
		if err := z.vertical(mid, in, z.w, 0, z.oh, 0, 0); err != nil {
			return nil, err
		}
		return out, z.horizontal(out, mid, z.oh, 0)
	}
	if err := z.horizontal(mid, in, z.h, 0); err != nil {
		return nil, err
	}
	return out, z.vertical(out, mid, z.ow, 0, z.oh, 0, 0)
}

// maxBand limits the bytes of a host image uploaded at a time.
const maxBand = 64 << 20

func (s *Runner) bandBytes() int64 {
	n := int64(maxBand)
	if s.Band > 0 {
		n = s.Band
	}
	return min(n, s.mem.Largest())
}

// banded scales an image in host memory, some rows at a time.
func (z *passes) banded(t *tensor.Tensor) (*image, error) {
	t, err := dense(t)
	if err != nil {
		return nil, err
	}
	line := z.w * z.ch
	most := int(z.s.bandBytes() / int64(line)) // rows
	out, err := z.image(z.oh, z.ow)
	if err != nil {
		return nil, err
	}
	upload := func(first, end int) (*image, error) {
		b, err := z.s.mem.Upload(t.Data[first*line : end*line])
		return &image{buf: b}, err
	}
	if z.h == z.oh || z.w != z.ow && !z.verticalFirst {
		// Rows are scaled independently, in bands of the input that start at
		// whole words.
		mid := out
		if z.h != z.oh {
			if mid, err = z.image(z.h, z.ow); err != nil {
				return nil, err
			}
			defer z.s.mem.Put(mid.buf)
		}
		n := most &^ 3
		if n == 0 {
			return nil, TooLargef("4 rows of %d bytes, the most at a time are %d", line, z.s.bandBytes())
		}
		for y := 0; y < z.h; y += n {
			end := min(y+n, z.h)
			in, err := upload(y, end)
			if err != nil {
				return nil, err
			}
			if err := z.horizontal(mid, in, end-y, y); err != nil {
				return nil, err
			}
			z.s.mem.Put(in.buf)
		}
		if z.h == z.oh {
			return out, nil
		}
		return out, z.vertical(out, mid, z.ow, 0, z.oh, 0, 0)
	}
	// The output is computed in bands, each from the rows that it reads.
	for y := 0; y < z.oh; {
		end := min(y+4, z.oh)
		for {
			next := min(end+4, z.oh)
			if lo, hi := z.c.y.rows(y, next); next == end || hi-lo > most {
				break
			}
			end = next
		}
		lo, hi := z.c.y.rows(y, end)
		if hi-lo > most {
			return nil, TooLargef("%d rows of %d bytes at a time, the most are %d", hi-lo, line, z.s.bandBytes())
		}
		in, err := upload(lo, hi)
		if err != nil {
			return nil, err
		}
		if z.w == z.ow {
			err = z.vertical(out, in, z.w, y, end, lo, y)
		} else {
			var mid *image
			if mid, err = z.image(end-y, z.w); err != nil {
				return nil, err
			}
			if err = z.vertical(mid, in, z.w, y, end, lo, 0); err == nil {
				err = z.horizontal(out, mid, end-y, y)
			}
			z.s.mem.Put(mid.buf)
		}
		if err != nil {
			return nil, err
		}
		z.s.mem.Put(in.buf)
		y = end
	}
	return out, nil
}
