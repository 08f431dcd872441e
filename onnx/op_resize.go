package onnx

import (
	"fmt"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.Resize]{
		cut:     func(_ *lowering, _ *transforms.Resize, x value) (value, error) { return x, nil },
		anySize: (*lowering).resizeAny,
	})
}

func (l *lowering) resizeAny(o *transforms.Resize, out []value, x value) error {
	if o.Fit > transforms.FitCover || o.SizeRule > transforms.SizeCapUnroundedDown {
		return l.needSize(fmt.Sprintf("fit %v with size rule %v", o.Fit, o.SizeRule))
	}
	ay, ax, ac := axes(x.desc)
	var sizes [3]num
	sizes[ac] = l.size(x, ac)
	sizes[ay], sizes[ax] = l.sized(o, l.size(x, ay), l.size(x, ax))
	interp, backend, antialias := o.Sampling()
	return l.fastResize(interp, backend, antialias, sizes, &out[0], x)
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
