package onnx

import (
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

//go:noinline
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

//go:noinline
func (l *lowering) mul(a, b real) real { return l.do("Mul", a, b) }

//go:noinline
func (l *lowering) div(a, b real) real      { return l.do("Div", a, b) }
func (l *lowering) min(a, b real) real      { return l.do("Min", a, b) }
func (l *lowering) max(a, b real) real      { return l.do("Max", a, b) }
func (l *lowering) trunc(a real) real       { return l.do("Floor", a) } // operands are never negative
func (l *lowering) round(a real) real       { return l.do("Round", a) } // half to even
func (l *lowering) where(c, a, b real) real { return l.do("Where", c, a, b) }

func (l *lowering) halfUp(a real) real { return l.trunc(l.do("Add", a, l.double(0.5))) }

// dynamic lowers a resizing op for images whose size is known only at run time.
func (l *lowering) dynamic(o transforms.Scaled, out []value, x value) error {
	if interp, _, _ := o.Sampling(); interp == transforms.Nearest || interp == transforms.NearestExact {
		return l.needSize(interp.String())
	}
	if e := emitterOf(o); e.anySize != nil {
		return e.anySize(l, o, out, x)
	}
	return l.needSize("the op")
}
