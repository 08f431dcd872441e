package diff

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Change is something that another program may do differently. It changes the
// graph, or undoes the change in the other program's tensor. To add a change,
// add an entry to a function below and, if that function is new, to allChanges.
type Change struct {
	Name string `json:"name"` // such as "opencv-bilinear"
	Text string `json:"text"` // what the other program did, as a clause
	// group names changes that exclude each other.
	group string
	// rewrite changes a clone of the graph, whose ops it may modify. It reports
	// whether the change applies.
	rewrite func(g *datagraph.Graph, t target) bool
	// undo undoes the change in the other program's image, in place. It reports
	// whether the change applies.
	undo func(p *pixels) bool
}

// target describes the output that a change must produce.
type target struct {
	h, w   int    // of an image; else 0
	output string // the graph's column
}

// allChanges returns all changes in the order in which they are applied.
// Geometry comes first, so that changes of the arithmetic apply to the ops it
// inserts.
func allChanges() []Change {
	return slices.Concat(decoding(), sizing(), cropping(), resampling(), scaling(), normalizing(), ordering(), mirroring())
}

// clone copies a graph and its ops. The ops' slices are shared: changes replace
// them and never write to them.
func clone(g *datagraph.Graph) *datagraph.Graph {
	c := *g
	c.Steps = slices.Clone(g.Steps)
	for i, s := range c.Steps {
		op := reflect.New(reflect.TypeOf(s.Op).Elem())
		op.Elem().Set(reflect.ValueOf(s.Op).Elem())
		c.Steps[i].Op = op.Interface().(transforms.Op)
	}
	return &c
}

// each calls f with every op of type T and reports whether f changed one.
func each[T transforms.Op](g *datagraph.Graph, f func(op T) bool) bool {
	changed := false
	for _, s := range g.Steps {
		if op, ok := s.Op.(T); ok && f(op) {
			changed = true
		}
	}
	return changed
}

// find returns the first step at or after from whose op matches, or -1.
func find(g *datagraph.Graph, from int, is func(op transforms.Op) bool) int {
	for i := from; i >= 0 && i < len(g.Steps); i++ {
		if is(g.Steps[i].Op) {
			return i
		}
	}
	return -1
}

func isType[T transforms.Op](op transforms.Op) bool {
	_, ok := op.(T)
	return ok
}

// chain returns steps that apply ops one after another, from the first input of
// s to its first output.
func chain(s datagraph.Step, ops ...transforms.Op) (l []datagraph.Step) {
	in := s.In[:1]
	for _, op := range ops {
		l = append(l, datagraph.Step{Op: op, In: in, Out: s.Out[:1]})
		in = s.Out[:1]
	}
	return l
}

// replace replaces step i by ops. Without ops it removes the step, and later
// steps read the step's input.
func replace(g *datagraph.Graph, i int, ops ...transforms.Op) {
	s := g.Steps[i]
	if len(ops) > 0 {
		g.Steps = slices.Replace(g.Steps, i, i+1, chain(s, ops...)...)
		return
	}
	g.Steps = slices.Delete(g.Steps, i, i+1)
	if s.In[0] == s.Out[0] {
		return
	}
	// Later steps read the input, up to the step that overwrites the column.
	old, name := s.Out[0], s.In[0]
	for j := i; j < len(g.Steps); j++ {
		n := g.Steps[j]
		n.In = slices.Clone(n.In)
		for k, c := range n.In {
			if c == old {
				n.In[k] = name
			}
		}
		g.Steps[j] = n
		if slices.Contains(n.Out, old) {
			return
		}
	}
	for k, o := range g.Outputs {
		if o == old {
			g.Outputs = slices.Clone(g.Outputs)
			g.Outputs[k] = name
		}
	}
}

// insert inserts ops after step i; they work on its first output.
func insert(g *datagraph.Graph, i int, ops ...transforms.Op) {
	var l []datagraph.Step
	for _, op := range ops {
		l = append(l, datagraph.Step{Op: op, In: g.Steps[i].Out[:1], Out: g.Steps[i].Out[:1]})
	}
	g.Steps = slices.Insert(g.Steps, i+1, l...)
}

// decoding returns changes of the decoder.
func decoding() []Change {
	l := []Change{
		{
			Name: "bgr", Text: "the channels are BGR, as OpenCV reads them, with the mean and std meant for RGB", group: "color",
			rewrite: func(g *datagraph.Graph, _ target) bool { return each(g, swapRedBlue) },
		},
		{
			Name: "bgr-throughout", Text: "the channels are BGR throughout, mean and std too", group: "color",
			rewrite: func(g *datagraph.Graph, _ target) bool {
				if !each(g, swapRedBlue) {
					return false
				}
				each(g, func(o *transforms.Normalize) bool {
					o.Mean, o.Std = reversed(o.Mean), reversed(o.Std)
					return true
				})
				each(g, func(o *transforms.Letterbox) bool { o.Fill = reversed(o.Fill); return true })
				each(g, func(o *transforms.CenterCrop) bool { o.Fill = reversed(o.Fill); return true })
				return true
			},
		},
		{
			Name: "exif", Text: "the EXIF orientation is handled the other way: applied instead of ignored, or ignored instead of applied", group: "exif",
			rewrite: func(g *datagraph.Graph, _ target) bool {
				return each(g, func(o *transforms.Decode) bool {
					if o.Orientation == codec.OrientationApply {
						o.Orientation = codec.OrientationIgnore
					} else {
						o.Orientation = codec.OrientationApply
					}
					return true
				})
			},
		},
	}
	for _, a := range []struct {
		name, text string
		alpha      codec.Alpha
	}{
		{"alpha-drop", "transparency is dropped", codec.AlphaDrop},
		{"alpha-white", "transparent pixels are blended with white", codec.AlphaWhite},
		{"alpha-key-white", "pixels of the transparent color become white", codec.AlphaKeyWhite},
	} {
		l = append(l, Change{Name: a.name, Text: a.text, group: "alpha", rewrite: func(g *datagraph.Graph, _ target) bool {
			return each(g, func(o *transforms.Decode) bool {
				had := o.Alpha
				o.Alpha = a.alpha
				return had != a.alpha
			})
		}})
	}
	l = append(l, Change{Name: "gray16-high", Text: "16-bit gray keeps its high byte, as in OpenCV", group: "gray16", rewrite: func(g *datagraph.Graph, _ target) bool {
		return each(g, func(o *transforms.Decode) bool {
			had := o.Gray16
			o.Gray16 = codec.Gray16High
			return had != o.Gray16
		})
	}})
	for i, name := range []string{"half", "quarter", "eighth"} {
		scale := codec.ScaleHalf + codec.Scale(i)
		l = append(l, Change{
			Name: "decoded-" + name, Text: "the JPEG is decoded at a reduced size (" + name + "), as Image.draft and IMREAD_REDUCED do", group: "scale",
			rewrite: func(g *datagraph.Graph, _ target) bool {
				return each(g, func(o *transforms.Decode) bool {
					had := o.Scale
					o.Scale = scale
					return had != scale
				})
			},
		})
	}
	return l
}

// swapRedBlue makes a decoder return BGR instead of RGB, or the reverse.
func swapRedBlue(o *transforms.Decode) bool {
	switch o.Color {
	case codec.ToRGB:
		o.Color = codec.ToBGR
	case codec.ToBGR:
		o.Color = codec.ToRGB
	default:
		return false
	}
	return true
}

func reversed(l []float64) []float64 {
	l = slices.Clone(l)
	slices.Reverse(l)
	return l
}

func isResize(op transforms.Op) bool {
	return isType[*transforms.Resize](op) || isType[*transforms.Letterbox](op)
}

func isCrop(op transforms.Op) bool { return isType[*transforms.CenterCrop](op) }

// sized replaces the first resize and the center crop after it by other ops.
// Ops that resize take over the first one's interpolation and backend.
func sized(g *datagraph.Graph, ops ...transforms.Op) bool {
	i := find(g, 0, isResize)
	if i < 0 {
		return false
	}
	r := transforms.Resize{Interpolation: transforms.Bilinear}
	switch o := g.Steps[i].Op.(type) {
	case *transforms.Resize:
		r = *o
	case *transforms.Letterbox:
		r.Interpolation, r.Backend = o.Interpolation, o.Backend
	}
	for _, op := range ops {
		switch o := op.(type) {
		case *transforms.Resize:
			o.Interpolation, o.Backend, o.NoAntialias = r.Interpolation, r.Backend, r.NoAntialias
		case *transforms.Letterbox:
			o.Interpolation, o.Backend = r.Interpolation, r.Backend
		}
	}
	if c := find(g, i+1, isCrop); c >= 0 {
		replace(g, c)
	}
	if l, ok := ops[0].(*transforms.Letterbox); ok { // it has three outputs
		s := g.Steps[i]
		g.Steps[i] = datagraph.Step{Op: l, In: s.In[:1], Out: []string{s.Out[0], "diff_scale", "diff_pad"}}
		return true
	}
	replace(g, i, ops...)
	return true
}

// sizing returns changes of sizes and positions.
func sizing() []Change {
	shortest := func(of func(side int) int) func(g *datagraph.Graph, t target) bool {
		return func(g *datagraph.Graph, t target) bool {
			if t.h == 0 {
				return false
			}
			r := &transforms.Resize{Fit: transforms.FitShortest, Edge: of(t.h)}
			if t.h != t.w {
				r = &transforms.Resize{Fit: transforms.FitCover, Height: of(t.h), Width: of(t.w)}
			}
			rounding := transforms.CropHalfEven
			if c := find(g, 0, isCrop); c >= 0 {
				rounding = g.Steps[c].Op.(*transforms.CenterCrop).CropRounding
			}
			crop := transforms.NewCenterCrop(t.h, t.w)
			crop.CropRounding = rounding
			return sized(g, r, crop)
		}
	}
	boxed := func(fill float64, topLeft bool) func(g *datagraph.Graph, t target) bool {
		return func(g *datagraph.Graph, t target) bool {
			if t.h == 0 {
				return false
			}
			l := transforms.NewLetterbox(t.h, t.w)
			l.Fill, l.TopLeft = []float64{fill}, topLeft
			return sized(g, l)
		}
	}
	l := []Change{
		{Name: "squash", Text: "the whole image is scaled to the size without keeping its aspect ratio", rewrite: func(g *datagraph.Graph, t target) bool {
			return t.h > 0 && sized(g, &transforms.Resize{Fit: transforms.FitExact, Height: t.h, Width: t.w})
		}},
		{Name: "shortest-crop", Text: "the shorter edge is scaled to the size, then the center is cropped", rewrite: shortest(func(n int) int { return n })},
		{Name: "margin-0.875", Text: "the shorter edge is scaled to the size divided by 0.875 (256 for 224), then the center is cropped", rewrite: shortest(func(n int) int { return n * 8 / 7 })},
		{Name: "margin-0.9", Text: "the shorter edge is scaled to the size divided by 0.9, then the center is cropped", rewrite: shortest(func(n int) int { return n * 10 / 9 })},
		{Name: "margin-0.95", Text: "the shorter edge is scaled to the size divided by 0.95, then the center is cropped", rewrite: shortest(func(n int) int { return n * 20 / 19 })},
		{Name: "letterbox-114", Text: "the image is scaled to fit and padded with 114", rewrite: boxed(114, false)},
		{Name: "letterbox-0", Text: "the image is scaled to fit and padded with black", rewrite: boxed(0, false)},
		{Name: "letterbox-128", Text: "the image is scaled to fit and padded with 128", rewrite: boxed(128, false)},
		{Name: "corner-114", Text: "the image is scaled to fit and padded with 114 at the bottom and right", rewrite: boxed(114, true)},
		{Name: "corner-0", Text: "the image is scaled to fit and padded with black at the bottom and right", rewrite: boxed(0, true)},
		{Name: "uncropped", Text: "the center is not cropped", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isCrop)
			if i >= 0 {
				replace(g, i)
			}
			return i >= 0
		}},
		{Name: "unscaled-crop", Text: "the center is cropped without scaling the image first", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.Resize])
			if i >= 0 {
				replace(g, i)
			}
			return i >= 0 && find(g, 0, isCrop) >= 0
		}},
	}
	for i := range l {
		l[i].group = "geometry"
	}
	for _, r := range []struct {
		name, text string
		rule       transforms.SizeRule
	}{
		{"size-truncate", "sides are truncated", transforms.SizeTruncate},
		{"size-half-even", "sides are rounded half to even", transforms.SizeHalfEven},
		{"size-half-up", "sides are rounded half up", transforms.SizeHalfUp},
	} {
		l = append(l, Change{Name: r.name, Text: r.text, group: "size", rewrite: func(g *datagraph.Graph, _ target) bool {
			return each(g, func(o *transforms.Resize) bool {
				had := o.SizeRule
				if o.Fit != transforms.FitExact {
					o.SizeRule = r.rule
				}
				return had != o.SizeRule
			})
		}})
	}
	return l
}

// cropping returns changes of the center crop's rounding.
func cropping() (l []Change) {
	for _, r := range []struct {
		name, text string
		rounding   transforms.CropRounding
	}{
		{"crop-half-even", "the crop offset is rounded half to even, as torchvision does", transforms.CropHalfEven},
		{"crop-floor", "the crop offset is rounded down, as transformers does", transforms.CropFloor},
	} {
		l = append(l, Change{Name: r.name, Text: r.text, group: "crop", rewrite: func(g *datagraph.Graph, _ target) bool {
			return each(g, func(o *transforms.CenterCrop) bool {
				had := o.CropRounding
				o.CropRounding = r.rounding
				return had != r.rounding
			})
		}})
	}
	return l
}

// resampling returns one change for each interpolation of each library.
func resampling() (l []Change) {
	for _, antialias := range []bool{true, false} {
		for _, backend := range []transforms.Backend{transforms.Pillow, transforms.OpenCV, transforms.Torch, transforms.TorchUint8} {
			for interp := transforms.Nearest; interp <= transforms.Area; interp++ {
				probe := transforms.Resize{Fit: transforms.FitExact, Height: 1, Width: 1, Interpolation: interp, Backend: backend, NoAntialias: !antialias}
				matters := (backend == transforms.Torch || backend == transforms.TorchUint8) && (interp == transforms.Bilinear || interp == transforms.Bicubic)
				if probe.Validate() != nil || !antialias && !matters || backend == transforms.Pillow && interp == transforms.NearestExact {
					continue
				}
				s := Change{Name: fmt.Sprintf("%v-%v", backend, interp), Text: fmt.Sprintf("the image is scaled by %s's %v", libraries[backend], interp), group: "kernel"}
				switch {
				case !antialias:
					s.Name += "-no-antialias"
					s.Text += " without antialiasing"
				case backend == transforms.OpenCV && interp != transforms.Area:
					s.Text += ", which does not antialias"
				}
				s.rewrite = func(g *datagraph.Graph, _ target) bool {
					set := func(i *transforms.Interpolation, b *transforms.Backend, no *bool) bool {
						changed := *i != interp || *b != backend || *no == antialias
						*i, *b, *no = interp, backend, !antialias
						return changed
					}
					resized := each(g, func(o *transforms.Resize) bool { return set(&o.Interpolation, &o.Backend, &o.NoAntialias) })
					cropped := each(g, func(o *transforms.ResizedCrop) bool { return set(&o.Interpolation, &o.Backend, &o.NoAntialias) })
					boxed := antialias && each(g, func(o *transforms.Letterbox) bool {
						var no bool
						return set(&o.Interpolation, &o.Backend, &no)
					})
					return resized || cropped || boxed
				}
				l = append(l, s)
			}
		}
	}
	return l
}

var libraries = map[transforms.Backend]string{transforms.Pillow: "Pillow", transforms.OpenCV: "OpenCV", transforms.Torch: "torch", transforms.TorchUint8: "torch's uint8 tensors"}

func isRescale(op transforms.Op) bool {
	return isType[*transforms.Rescale](op) || isType[*transforms.ToTensor](op)
}

// scaling returns changes of the range of values.
func scaling() []Change {
	l := []Change{
		{Name: "not-rescaled", Text: "the values are 0 to 255 instead of 0 to 1: they are not divided by 255", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isRescale)
			if i < 0 {
				return false
			}
			ops := []transforms.Op{transforms.NewToType(tensor.Float32)}
			if isType[*transforms.ToTensor](g.Steps[i].Op) {
				ops = append(ops, transforms.NewHWC2CHW())
			}
			replace(g, i, ops...)
			return true
		}},
		{Name: "raw-values", Text: "the values are 0 to 255, neither divided by 255 nor normalized", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isRescale)
			n := find(g, 0, isType[*transforms.Normalize])
			if i < 0 || n < i {
				return false
			}
			replace(g, n)
			ops := []transforms.Op{transforms.NewToType(tensor.Float32)}
			if isType[*transforms.ToTensor](g.Steps[i].Op) {
				ops = append(ops, transforms.NewHWC2CHW())
			}
			replace(g, i, ops...)
			return true
		}},
		{Name: "rescaled-twice", Text: "the values are divided by 255 twice", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isRescale)
			if i >= 0 {
				insert(g, i, transforms.NewRescale(1.0/255))
			}
			return i >= 0
		}},
		{Name: "rescaled", Text: "the values are divided by 255, to 0 to 1", rewrite: func(g *datagraph.Graph, t target) bool {
			if find(g, 0, isRescale) >= 0 {
				return false
			}
			g.Then(transforms.NewRescale(1.0/255), []string{t.output}, []string{t.output})
			return true
		}},
		{Name: "rescaled-to-1-1", Text: "the values are scaled to -1 to 1: divided by 127.5, then minus 1", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isRescale)
			if i < 0 {
				return false
			}
			ops := []transforms.Op{&transforms.Rescale{Scale: 127.5, Offset: -1, Rule: transforms.RescaleDivide}}
			if isType[*transforms.ToTensor](g.Steps[i].Op) {
				ops = append(ops, transforms.NewHWC2CHW())
			}
			replace(g, i, ops...)
			if n := find(g, 0, isType[*transforms.Normalize]); n >= 0 {
				replace(g, n)
			}
			return true
		}},
	}
	for _, r := range []struct {
		name, text string
		rule       transforms.RescaleRule
		scale      float64
	}{
		{"rescale-hf", "the values are multiplied by 1/255 in float64, as transformers does", transforms.RescaleHF, 1.0 / 255},
		{"rescale-multiply", "the values are multiplied by 1/255 in float32, as torchvision's to_dtype does", transforms.RescaleMultiply, 1.0 / 255},
		{"rescale-divide", "the values are divided by 255 in float32, as ToTensor does", transforms.RescaleDivide, 255},
	} {
		l = append(l, Change{Name: r.name, Text: r.text, rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isRescale)
			if i < 0 {
				return false
			}
			op := &transforms.Rescale{Scale: r.scale, Rule: r.rule}
			switch o := g.Steps[i].Op.(type) {
			case *transforms.ToTensor:
				if r.rule == transforms.RescaleDivide {
					return false
				}
				replace(g, i, op, transforms.NewHWC2CHW())
			case *transforms.Rescale:
				if *o == *op || math.Abs(o.Scale-1.0/255) > 1e-9 && o.Scale != 255 {
					return false
				}
				op.Offset = o.Offset
				replace(g, i, op)
			}
			return true
		}})
	}
	for i := range l {
		l[i].group = "range"
	}
	return l
}

// normalizing returns changes of the mean and standard deviation.
func normalizing() []Change {
	set := func(mean, std []float64) func(g *datagraph.Graph, _ target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			op := transforms.NewNormalize(mean, std)
			if i := find(g, 0, isType[*transforms.Normalize]); i >= 0 {
				replace(g, i, op)
			} else if i := find(g, 0, isRescale); i >= 0 {
				insert(g, i, op)
			} else {
				return false
			}
			return true
		}
	}
	change := func(f func(o *transforms.Normalize)) func(g *datagraph.Graph, _ target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			return each(g, func(o *transforms.Normalize) bool { f(o); return true })
		}
	}
	l := []Change{
		{Name: "not-normalized", Text: "the mean and std are not applied", rewrite: func(g *datagraph.Graph, _ target) bool {
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
			i := find(g, 0, isType[*transforms.Normalize])
			if i >= 0 {
				insert(g, i, clone(g).Steps[i].Op)
			}
			return i >= 0
		}},
		// Of ImageNet (torchvision, timm, transformers), of CLIP (OpenAI) and
		// of Inception.
		{Name: "imagenet-mean", Text: "the mean and std are ImageNet's", rewrite: set([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225})},
		{Name: "clip-mean", Text: "the mean and std are CLIP's", rewrite: set([]float64{0.48145466, 0.4578275, 0.40821073}, []float64{0.26862954, 0.26130258, 0.27577711})},
		{Name: "half-mean", Text: "the mean and std are 0.5: the values are -1 to 1", rewrite: set([]float64{0.5}, []float64{0.5})},
		{Name: "fused-mean", Text: "the mean and std are multiplied by 255 instead of dividing the values by 255", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isRescale)
			n := find(g, i+1, isType[*transforms.Normalize])
			if i < 0 || n < 0 {
				return false
			}
			o := g.Steps[n].Op.(*transforms.Normalize)
			scaled := func(l []float64) []float64 {
				l = slices.Clone(l)
				for k := range l {
					l[k] *= 255
				}
				return l
			}
			o.Mean, o.Std = scaled(o.Mean), scaled(o.Std)
			ops := []transforms.Op{transforms.NewToType(tensor.Float32)}
			if isType[*transforms.ToTensor](g.Steps[i].Op) {
				ops = append(ops, transforms.NewHWC2CHW())
			}
			replace(g, i, ops...)
			return true
		}},
	}
	for i := range l {
		l[i].group = "mean"
	}
	return l
}

// ordering returns changes of the order of steps.
func ordering() []Change {
	first := func(is func(op transforms.Op) bool) func(g *datagraph.Graph, _ target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			from := find(g, 0, isResize)
			if from < 0 {
				return false
			}
			// The last step that moves before the first resize.
			to := -1
			for i := from + 1; i < len(g.Steps); i++ {
				if is(g.Steps[i].Op) {
					to = i
				}
			}
			if to < 0 {
				return false
			}
			for _, s := range g.Steps[from : to+1] {
				if len(s.In) != 1 {
					return false
				}
			}
			// The steps change places, so all of them work on one column.
			column := g.Steps[from].In[0]
			last := g.Steps[to].Out[0]
			var before, after []datagraph.Step
			for _, s := range g.Steps[from : to+1] {
				n := datagraph.Step{Op: s.Op, In: []string{column}, Out: append([]string{column}, s.Out[1:]...)}
				if isRescale(s.Op) || is(s.Op) {
					before = append(before, n)
				} else {
					after = append(after, n)
				}
			}
			if len(before) == 0 || len(after) == 0 {
				return false
			}
			end := &after[len(after)-1]
			end.Out = append([]string{last}, end.Out[1:]...)
			g.Steps = slices.Replace(g.Steps, from, to+1, slices.Concat(before, after)...)
			return true
		}
	}
	return []Change{
		{Name: "rescaled-first", Text: "the values are divided by 255 before the image is scaled, as floats", group: "order", rewrite: first(isRescale)},
		{Name: "normalized-first", Text: "the mean and std are applied before the image is scaled, as floats", group: "order", rewrite: first(isType[*transforms.Normalize])},
	}
}

// mirroring returns changes of the whole tensor.
func mirroring() []Change {
	l := []Change{
		{Name: "mirrored", Text: "left and right are swapped", undo: func(p *pixels) bool {
			return p.permute(p.h, p.w, func(y, x, c int) (int, int, int) { return y, p.w - 1 - x, c })
		}},
		{Name: "upside-down", Text: "top and bottom are swapped", undo: func(p *pixels) bool {
			return p.permute(p.h, p.w, func(y, x, c int) (int, int, int) { return p.h - 1 - y, x, c })
		}},
		{Name: "transposed", Text: "height and width are swapped", undo: func(p *pixels) bool {
			return p.permute(p.w, p.h, func(y, x, c int) (int, int, int) { return x, y, c })
		}},
		{Name: "reshaped", Text: "the layout was changed by a reshape instead of a transpose", undo: func(p *pixels) bool {
			g := geometry{p.layout, p.h, p.w, p.c}
			o := geometry{tensor.CHW, p.h, p.w, p.c}
			if p.layout == tensor.CHW {
				o.layout = tensor.HWC
			}
			return p.permute(p.h, p.w, func(y, x, c int) (int, int, int) { return g.pixel(o.index(y, x, c)) })
		}},
	}
	for i := range l {
		l[i].group = "tensor"
	}
	return l
}
