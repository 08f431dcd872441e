package diff

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// valueChanges returns the changes of values, in the order in which they are
// applied: a division by 255 that the graph lacks comes before the mean and std
// that follow it, one that it has is changed last.
func valueChanges() []Change {
	return slices.Concat(coloring(), grouped(groupRange, []Change{
		{Name: "rescaled", Text: "the values are divided by 255, to 0 to 1", rewrite: divide},
	}), normalizing(), scaling())
}

// isArithmetic reports whether an op maps every channel by a linear function.
// Its input may be uint8.
func isArithmetic(op transforms.Op) bool {
	switch o := op.(type) {
	case *transforms.ToType:
		return o.DType == tensor.Float32
	case *transforms.Rescale, *transforms.ToTensor, *transforms.Normalize, *transforms.Multiply:
		return true
	}
	return false
}

// byHand is a division by 255, as unfold writes it.
func byHand() *transforms.Rescale {
	return &transforms.Rescale{Scale: 255, Rule: transforms.RescaleDivide}
}

// isByHand reports whether op is that of byHand.
func isByHand(op transforms.Op) bool {
	o, ok := op.(*transforms.Rescale)
	return ok && *o == *byHand()
}

// closeTo reports whether two numbers are equal up to the rounding of float32.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-5*max(1, math.Abs(b)) }

// linear is a linear function of each channel: v*a[c] + b[c]. Lists of one
// number apply to all channels.
type linear struct{ a, b []float64 }

// combined calls f for each channel of two lists.
func combined(x, y []float64, f func(x, y float64) float64) []float64 {
	l := make([]float64, max(len(x), len(y)))
	for i := range l {
		l[i] = f(x[min(i, len(x)-1)], y[min(i, len(y)-1)])
	}
	return l
}

// then adds an arithmetic op.
func (l *linear) then(op transforms.Op) {
	mul := func(x, y float64) float64 { return x * y }
	div := func(x, y float64) float64 { return x / y }
	switch o := op.(type) {
	case *transforms.Rescale:
		scale := o.Scale
		if o.Rule == transforms.RescaleDivide {
			scale = 1 / scale
		}
		l.a = combined(l.a, []float64{scale}, mul)
		l.b = combined(l.b, []float64{scale}, mul)
		l.b = combined(l.b, []float64{o.Offset}, func(x, y float64) float64 { return x + y })
	case *transforms.ToTensor:
		l.a, l.b = combined(l.a, []float64{255}, div), combined(l.b, []float64{255}, div)
	case *transforms.Normalize:
		l.b = combined(l.b, o.Mean, func(x, y float64) float64 { return x - y })
		l.a, l.b = combined(l.a, o.Std, div), combined(l.b, o.Std, div)
	case *transforms.Multiply:
		l.a, l.b = combined(l.a, o.Factor, mul), combined(l.b, o.Factor, mul)
	}
}

// all reports whether all numbers are close to v.
func all(l []float64, v float64) bool {
	return !slices.ContainsFunc(l, func(x float64) bool { return !closeTo(x, v) })
}

// unfold writes the graph's first run of arithmetic steps as a division by 255
// and, if it does more, a mean and std for values of 0 to 1. A run without the
// division stays a conversion to float32 and, if it does more, a mean. Only the
// rounding changes. It reports false for a graph without arithmetic.
func unfold(g *datagraph.Graph) bool {
	from := find(g, 0, isArithmetic)
	if from < 0 {
		return false
	}
	to := from
	f := linear{[]float64{1}, []float64{0}}
	chw := false
	for ; to < len(g.Steps); to++ {
		s := g.Steps[to]
		_, layout := s.Op.(*transforms.HWC2CHW)
		if !isArithmetic(s.Op) && !layout || to > from && s.In[0] != g.Steps[to-1].Out[0] {
			break
		}
		chw = chw || layout || isType[*transforms.ToTensor](s.Op)
		f.then(s.Op)
	}
	if isByHand(g.Steps[from].Op) {
		return true
	}
	var ops []transforms.Op
	switch plain := all(f.a, 1); {
	case plain && all(f.b, 0):
		ops = []transforms.Op{transforms.NewToType(tensor.Float32)}
	case plain:
		mean := combined(f.b, []float64{-1}, func(x, y float64) float64 { return x * y })
		ops = []transforms.Op{transforms.NewToType(tensor.Float32), transforms.NewNormalize(mean, []float64{1})}
	default:
		std := combined(f.a, []float64{255}, func(x, y float64) float64 { return 1 / (x * y) })
		mean := combined(f.b, std, func(x, y float64) float64 { return -x * y })
		if ops = []transforms.Op{byHand()}; !all(std, 1) || !all(mean, 0) {
			ops = append(ops, transforms.NewNormalize(mean, std))
		}
	}
	if chw {
		ops = append(ops, transforms.NewHWC2CHW())
	}
	g.Steps = slices.Replace(g.Steps, from, to, chain(datagraph.Step{In: g.Steps[from].In, Out: g.Steps[to-1].Out}, ops...)...)
	return true
}

// divide adds a division by 255 to a graph that has none.
func divide(g *datagraph.Graph, t target) bool {
	if !unfold(g) {
		g.Then(byHand(), []string{t.output}, []string{t.output})
		return true
	}
	if i := find(g, 0, isArithmetic); isType[*transforms.ToType](g.Steps[i].Op) && find(g, 0, isByHand) < 0 {
		replace(g, i, byHand())
		return true
	}
	return false
}

// coloring returns changes of the order of channels.
func coloring() []Change {
	decoded := func(from, to codec.Color) func(*datagraph.Graph, target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			return each(g, func(o *transforms.Decode) bool {
				had := o.Color == from
				if had {
					o.Color = to
				}
				return had
			})
		}
	}
	finished := func(from codec.Color) func(*datagraph.Graph, target) bool {
		return func(g *datagraph.Graph, t target) bool {
			i := find(g, 0, isType[*transforms.Decode])
			if i < 0 || g.Steps[i].Op.(*transforms.Decode).Color != from {
				return false
			}
			g.Then(transforms.NewChannelPermutation(2, 1, 0), []string{t.output}, []string{t.output})
			return true
		}
	}
	return grouped(groupColor, []Change{
		{Name: "bgr", Text: "the channels are BGR, as OpenCV reads them, with the mean and std meant for RGB", rewrite: decoded(codec.ToRGB, codec.ToBGR)},
		{Name: "bgr-throughout", Text: "the channels are BGR throughout, mean and std too", rewrite: finished(codec.ToRGB)},
		{Name: "rgb", Text: "the channels are RGB, with the mean and std meant for BGR", rewrite: decoded(codec.ToBGR, codec.ToRGB)},
		{Name: "rgb-throughout", Text: "the channels are RGB throughout, mean and std too", rewrite: finished(codec.ToBGR)},
	})
}

// normalizing returns changes of the mean and standard deviation.
func normalizing() []Change {
	set := func(mean, std []float64) func(g *datagraph.Graph, _ target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			if !unfold(g) {
				return false
			}
			if i := find(g, 0, isType[*transforms.Normalize]); i >= 0 {
				replace(g, i, transforms.NewNormalize(mean, std))
				return true
			}
			i := find(g, 0, isByHand)
			if i >= 0 {
				insert(g, i, transforms.NewNormalize(mean, std))
			}
			return i >= 0
		}
	}
	change := func(f func(o *transforms.Normalize)) func(g *datagraph.Graph, _ target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			return unfold(g) && each(g, func(o *transforms.Normalize) bool { f(o); return true })
		}
	}
	reversed := func(l []float64) []float64 {
		l = slices.Clone(l)
		slices.Reverse(l)
		return l
	}
	return grouped(groupMean, []Change{
		{Name: "not-normalized", Text: "the mean and std are not applied", rewrite: func(g *datagraph.Graph, _ target) bool {
			if !unfold(g) {
				return false
			}
			i := find(g, 0, isType[*transforms.Normalize])
			if i >= 0 {
				replace(g, i)
			}
			return i >= 0
		}},
		{Name: "mean-missing", Text: "the mean is not subtracted", rewrite: change(func(o *transforms.Normalize) { o.Mean = []float64{0} })},
		{Name: "std-missing", Text: "the values are not divided by the std", rewrite: change(func(o *transforms.Normalize) { o.Std = []float64{1} })},
		{Name: "mean-reversed", Text: "the mean and std are in BGR order", rewrite: change(func(o *transforms.Normalize) { o.Mean, o.Std = reversed(o.Mean), reversed(o.Std) })},
		{Name: "normalized-twice", Text: "the mean and std are applied twice", rewrite: func(g *datagraph.Graph, _ target) bool {
			if !unfold(g) {
				return false
			}
			i := find(g, 0, isType[*transforms.Normalize])
			if i >= 0 {
				insert(g, i, clone(g).Steps[i].Op)
			}
			return i >= 0
		}},
		// Of ImageNet (torchvision, timm, transformers), of CLIP (OpenAI), of
		// Inception, and of Caffe and Keras.
		{Name: "imagenet-mean", Text: "the mean and std are ImageNet's", rewrite: set([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225})},
		{Name: "clip-mean", Text: "the mean and std are CLIP's", rewrite: set([]float64{0.48145466, 0.4578275, 0.40821073}, []float64{0.26862954, 0.26130258, 0.27577711})},
		{Name: "half-mean", Text: "the mean and std are 0.5: the values are -1 to 1", rewrite: set([]float64{0.5}, []float64{0.5})},
		{Name: "caffe-mean", Text: "the mean of values of 0 to 255, 123.68, 116.779 and 103.939, is subtracted, and nothing is divided", rewrite: set(
			[]float64{123.68 / 255, 116.779 / 255, 103.939 / 255}, []float64{1. / 255})},
	})
}

// scaling returns changes of the division by 255.
func scaling() []Change {
	return grouped(groupRange, []Change{
		{Name: "not-rescaled", Text: "the values are 0 to 255 instead of 0 to 1: they are not divided by 255", rewrite: func(g *datagraph.Graph, _ target) bool {
			if !unfold(g) {
				return false
			}
			i := find(g, 0, isByHand)
			if i >= 0 {
				replace(g, i, transforms.NewToType(tensor.Float32))
			}
			return i >= 0
		}},
		{Name: "rescaled-twice", Text: "the values are divided by 255 twice, or once with a mean and std of values of 0 to 255", rewrite: func(g *datagraph.Graph, _ target) bool {
			if !unfold(g) {
				return false
			}
			i := find(g, 0, isByHand)
			if i >= 0 {
				insert(g, i, byHand())
			}
			return i >= 0
		}},
	})
}
