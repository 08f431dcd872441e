package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.Letterbox]{anySize: (*lowering).letterbox})
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
