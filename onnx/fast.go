package onnx

import (
	"fmt"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// fastResize lowers a resize to the operator Resize in float32, rounded half to
// even. to has the sizes of the image's axes, in its layout.
//
// Let b be the backend's bytes and f the operator's floats. Three errors add up
// to |b-f|:
//
//   - at most 0.5 for b's last rounding
//   - at most 0.5 times the sum of the weights' magnitudes (1 for bilinear,
//     1.25 for bicubic) for Pillow's rounding between its passes
//   - 0.6 for the 11 bits of OpenCV's weights
//
// The sum is below 1.5 for each backend, so the bytes differ by at most 1. With
// uint8 the operator also rounds between its passes. The result is closer to
// Pillow almost everywhere, but off by 2 where both roundings meet a half.
func (l *lowering) fastResize(interp transforms.Interpolation, backend transforms.Backend, antialias bool, to [3]num, y *value, x value) error {
	attrs := []attr{{"coordinate_transformation_mode", "half_pixel"}}
	a := float32(-0.75)
	if antialias = antialias && backend != transforms.OpenCV; antialias {
		if l.opset < 18 {
			return l.refuse("opset %d: the operator Resize antialiases from opset 18 on", l.opset)
		}
		attrs = append(attrs, attr{"antialias", int64(1)}, attr{"exclude_outside", int64(1)})
		a = -0.5
	}
	switch {
	case backend > transforms.Torch && backend != transforms.TorchUint8:
		return l.refuse("no operators for backend %v", backend)
	case interp == transforms.Bilinear:
		attrs = append(attrs, attr{"mode", "linear"})
	case interp == transforms.Bicubic:
		attrs = append(attrs, attr{"mode", "cubic"}, attr{"cubic_coeff_a", a})
	default:
		return l.refuse("the operator Resize has no %v of backend %v", interp, backend)
	}
	if backend == transforms.Pillow {
		if _, err := l.pillowFilter(interp, x); err != nil {
			return err
		}
	}
	h, w, c := axes(x.desc)
	sh, sw, dh, dw := l.size(x, h), l.size(x, w), to[h], to[w]
	channels := l.size(x, c)
	name := l.cast(l.toLayout(x.name, x.desc, tensor.CHW), tensor.Float32)
	// Reshape, because ONNX Runtime 1.31.1 would move the Transpose through an
	// Unsqueeze and behind Resize, which then refuses cubic.
	name = l.op("Reshape", nil, name, l.vector(known(1), channels, sh, sw))
	low, high := l.float(0), l.float(255)
	resize := func(h, w num) {
		name = l.op("Resize", attrs, name, "", "", l.vector(known(1), channels, h, w))
	}
	switch {
	case interp != transforms.Bicubic || backend != transforms.Pillow:
		resize(dh, dw)
	case allKnown(sh, sw, dh, dw):
		// Pillow clips bicubic's overshoot between its passes, which is
		// visible.
		h1, w1 := sh, dw
		if dh.v < sh.v && sh.v-dh.v > 2*(sw.v-dw.v) {
			h1, w1 = dh, sw
		}
		if h1 != sh || w1 != sw {
			resize(h1, w1)
			name = l.op("Clip", nil, name, low, high)
		}
		if h1 != dh || w1 != dw {
			resize(dh, dw)
		}
	default:
		// Rows, columns, rows: either the first or the last pass changes
		// nothing.
		less := l.op("Less", nil, l.numName(dh), l.numName(sh))
		more := l.op("Greater", nil, l.numName(l.minus(sh, dh)), l.numName(l.times(known(2), l.minus(sw, dw))))
		h1 := num{name: l.op("Where", nil, l.op("And", nil, less, more), l.numName(dh), l.numName(sh))}
		resize(h1, sw)
		name = l.op("Clip", nil, name, low, high)
		resize(h1, dw)
		name = l.op("Clip", nil, name, low, high)
		resize(dh, dw)
	}
	name = l.cast(l.op("Clip", nil, l.op("Round", nil, name), low, high), tensor.Uint8)
	name = l.op("Reshape", nil, name, l.vector(channels, dh, dw))
	chw := x.desc
	chw.Layout = tensor.CHW
	y.name = l.toLayout(name, chw, x.desc.Layout)
	l.result.Within1 = append(l.result.Within1, l.step)
	return nil
}

// real is a float64 vector of one element, for the arithmetic of sizes. It uses
// the same operations in the same order as package transforms, so that no size
// differs by a pixel.
type real string

func (l *lowering) double(v float64) real { return real(constOf(l.builder, "double", []float64{v}, 1)) }

func (l *lowering) toReal(n num) real {
	if n.name == "" {
		return l.double(float64(n.v))
	}
	return real(l.cast(n.name, tensor.Float64))
}

func (l *lowering) toNum(r real) num { return num{name: l.cast(string(r), tensor.Int64)} }

func (l *lowering) do(kind string, in ...real) real {
	names := make([]string, len(in))
	for i, r := range in {
		names[i] = string(r)
	}
	return real(l.op(kind, nil, names...))
}

func (l *lowering) mul(a, b real) real      { return l.do("Mul", a, b) }
func (l *lowering) div(a, b real) real      { return l.do("Div", a, b) }
func (l *lowering) min(a, b real) real      { return l.do("Min", a, b) }
func (l *lowering) max(a, b real) real      { return l.do("Max", a, b) }
func (l *lowering) trunc(a real) real       { return l.do("Floor", a) } // operands are never negative
func (l *lowering) round(a real) real       { return l.do("Round", a) } // half to even
func (l *lowering) where(c, a, b real) real { return l.do("Where", c, a, b) }

func (l *lowering) halfUp(a real) real { return l.trunc(l.do("Add", a, l.double(0.5))) }

// dynamic lowers a resizing op for images whose size is known only at run time.
func (l *lowering) dynamic(o transforms.Scaled, out []value, x value) error {
	interp, backend, antialias := o.Sampling()
	if interp == transforms.Nearest || interp == transforms.NearestExact {
		return l.needSize(interp.String())
	}
	ay, ax, ac := axes(x.desc)
	var sizes [3]num
	sizes[ac] = l.size(x, ac)
	switch o := o.(type) {
	case *transforms.Resize:
		if o.Fit > transforms.FitCover || o.SizeRule > transforms.SizeCapUnroundedDown {
			return l.needSize(fmt.Sprintf("fit %v with size rule %v", o.Fit, o.SizeRule))
		}
		sizes[ay], sizes[ax] = l.sized(o, l.size(x, ay), l.size(x, ax))
		return l.fastResize(interp, backend, antialias, sizes, &out[0], x)
	case *transforms.ResizedCrop:
		cut := value{desc: x.desc}
		if err := l.window(&cut, x, known(o.Top), known(o.Left), known(o.Height), known(o.Width), []float64{0}); err != nil {
			return err
		}
		sizes[ay], sizes[ax] = known(o.OutHeight), known(o.OutWidth)
		return l.fastResize(interp, backend, antialias, sizes, &out[0], cut)
	case *transforms.Letterbox:
		return l.letterbox(o, out, x)
	}
	return l.needSize("the op")
}

// sized computes the output size of Resize; see Resize.sized in package
// transforms.
func (l *lowering) sized(o *transforms.Resize, height, width num) (nh, nw num) {
	if o.Fit == transforms.FitExact {
		return known(o.Height), known(o.Width)
	}
	h, w := l.toReal(height), l.toReal(width)
	edge, most := l.double(float64(o.Edge)), l.double(float64(o.MaxEdge))
	var rh, rw real
	switch o.Fit {
	case transforms.FitShortest, transforms.FitLongest:
		short, long := l.min(h, w), l.max(h, w)
		var s, g real // the shorter and the longer side
		if o.Fit == transforms.FitLongest {
			s, g = l.longestEdge(o, short, long, edge)
		} else {
			s, g = l.shortestEdge(o, h, w, short, long, edge, most)
		}
		upright := l.do("Greater", h, w)
		rh, rw = l.where(upright, g, s), l.where(upright, s, g)
	case transforms.FitInside, transforms.FitCover:
		rh, rw = l.insideOrCover(o, h, w)
	case transforms.FitMultiple:
		rh, rw = l.multiple(o, h, w)
	}
	return l.toNum(rh), l.toNum(rw)
}

// longestEdge returns the sides s <= g for which the longer side is edge.
func (l *lowering) longestEdge(o *transforms.Resize, short, long, edge real) (s, g real) {
	switch o.SizeRule {
	case transforms.SizeTruncate:
		return l.trunc(l.div(l.mul(edge, short), long)), edge
	case transforms.SizeHalfEven:
		ratio := l.div(long, edge)
		return l.round(l.div(short, ratio)), l.round(l.div(long, ratio))
	}
	scale := l.div(edge, long)
	return l.halfUp(l.mul(short, scale)), l.halfUp(l.mul(long, scale))
}

// shortestEdge returns the sides s <= g for which the shorter side is edge,
// unless the longer one would exceed most.
func (l *lowering) shortestEdge(o *transforms.Resize, h, w, short, long, edge, most real) (s, g real) {
	bounded := o.MaxEdge > 0
	switch o.SizeRule {
	case transforms.SizeTruncate:
		s, g = edge, l.trunc(l.div(l.mul(edge, long), short))
		if bounded {
			beyond := l.do("Greater", g, most)
			s, g = l.where(beyond, l.trunc(l.div(l.mul(most, s), g)), s), l.where(beyond, most, g)
		}
		return s, g
	case transforms.SizeCapUnrounded, transforms.SizeCapUnroundedDown:
		s, g = edge, l.trunc(l.div(l.mul(edge, long), short))
		if bounded {
			beyond := l.do("Greater", l.mul(l.div(long, short), edge), most)
			raw := l.div(l.mul(most, short), long)
			s, g = l.where(beyond, l.round(raw), s), l.where(beyond, l.trunc(l.div(l.mul(raw, long), short)), g)
		}
		same := l.do("Equal", s, short)
		if o.SizeRule == transforms.SizeCapUnroundedDown {
			same = l.do("And", same, l.do("LessOrEqual", h, w))
		}
		g = l.where(same, long, g)
		if o.SizeRule == transforms.SizeCapUnroundedDown {
			m := l.double(float64(o.Multiple))
			s, g = l.mul(l.trunc(l.div(s, m)), m), l.mul(l.trunc(l.div(g, m)), m)
		}
		return s, g
	case transforms.SizeHalfEven:
		ratio := l.div(short, edge)
		if bounded {
			ratio = l.max(ratio, l.div(long, most))
		}
		return l.round(l.div(short, ratio)), l.round(l.div(long, ratio))
	}
	scale := l.div(edge, short)
	if bounded {
		scale = l.min(scale, l.div(most, long))
	}
	return l.halfUp(l.mul(short, scale)), l.halfUp(l.mul(long, scale))
}

// insideOrCover returns the largest size inside a box, or the smallest size
// that covers it.
func (l *lowering) insideOrCover(o *transforms.Resize, h, w real) (rh, rw real) {
	th, tw := l.double(float64(o.Height)), l.double(float64(o.Width))
	inside := o.Fit == transforms.FitInside
	if o.SizeRule == transforms.SizeHalfEven {
		ratio, r := l.div(h, th), l.div(w, tw)
		if inside {
			ratio = l.max(ratio, r)
		} else {
			ratio = l.min(ratio, r)
		}
		return l.round(l.div(h, ratio)), l.round(l.div(w, ratio))
	}
	scale, r := l.div(th, h), l.div(tw, w)
	if inside {
		scale = l.min(scale, r)
	} else {
		scale = l.max(scale, r)
	}
	rounded := l.trunc
	if o.SizeRule == transforms.SizeHalfUp {
		rounded = l.halfUp
	}
	return rounded(l.mul(h, scale)), rounded(l.mul(w, scale))
}

// multiple returns a size whose sides are multiples of o.Multiple.
func (l *lowering) multiple(o *transforms.Resize, h, w real) (rh, rw real) {
	sh, sw := l.div(l.double(float64(o.Height)), h), l.div(l.double(float64(o.Width)), w)
	if o.KeepAspect {
		one := l.double(1)
		wider := l.do("Less", l.do("Abs", l.do("Sub", one, sw)), l.do("Abs", l.do("Sub", one, sh)))
		sh = l.where(wider, sw, sh)
		sw = sh
	}
	rounded := map[transforms.SizeRule]func(real) real{transforms.SizeTruncate: l.trunc, transforms.SizeHalfUp: l.halfUp}[o.SizeRule]
	if rounded == nil {
		rounded = l.round
	}
	m := l.double(float64(o.Multiple))
	return l.mul(rounded(l.div(l.mul(sh, h), m)), m), l.mul(rounded(l.div(l.mul(sw, w), m)), m)
}

// letterbox lowers Letterbox for images of any size; see Letterbox.fit in
// package transforms.
func (l *lowering) letterbox(o *transforms.Letterbox, out []value, x value) error {
	ay, ax, ac := axes(x.desc)
	h, w := l.toReal(l.size(x, ay)), l.toReal(l.size(x, ax))
	th, tw, one := l.double(float64(o.Height)), l.double(float64(o.Width)), l.double(1)
	r := l.min(l.div(th, h), l.div(tw, w))
	if o.NoScaleUp {
		r = l.min(r, one)
	}
	nh, nw := l.max(l.round(l.mul(h, r)), one), l.max(l.round(l.mul(w, r)), one)
	dh, dw := l.do("Sub", th, nh), l.do("Sub", tw, nw)
	sh, sw := r, r
	switch {
	case o.Auto:
		stride := l.double(float64(o.Stride)) // fmod equals Python's modulo for operands that are not negative
		mod := func(d real) real {
			return real(l.op("Mod", []attr{{"fmod", int64(1)}}, string(d), string(stride)))
		}
		dh, dw = mod(dh), mod(dw)
	case o.ScaleFill:
		zero := l.double(0)
		dh, dw, nh, nw = zero, zero, th, tw
		sh, sw = l.div(th, h), l.div(tw, w)
	}
	less := func(d real) num { return l.toNum(l.round(l.do("Sub", d, l.double(0.1)))) }
	more := func(d real) num { return l.toNum(l.round(l.do("Add", d, l.double(0.1)))) }
	var top, left num
	if !o.TopLeft {
		dh, dw = l.div(dh, l.double(2)), l.div(dw, l.double(2))
		top, left = less(dh), less(dw)
	}
	bottom, right := more(dh), more(dw)

	interp, backend, antialias := o.Sampling()
	var sizes [3]num
	sizes[ay], sizes[ax], sizes[ac] = l.toNum(nh), l.toNum(nw), l.size(x, ac)
	var scaled value
	if err := l.fastResize(interp, backend, antialias, sizes, &scaled, x); err != nil {
		return err
	}
	var before, after [3]num
	before[ay], before[ax], after[ay], after[ax] = top, left, bottom, right
	var err error
	if out[0].name, err = l.filled(scaled.name, x.desc, before, after, o.Fill); err != nil {
		return err
	}
	scale := l.op("Concat", []attr{{"axis", int64(0)}}, string(sh), string(sw))
	out[1].name = l.cast(scale, tensor.Float32)
	out[2].name = l.cast(l.vector(top, bottom, left, right), tensor.Int32)
	return nil
}
