package diff

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// decodes returns a rewrite that sets a field of every decoder.
func decodes[T comparable](field func(o *transforms.Decode) *T, v T) func(*datagraph.Graph, target) bool {
	return func(g *datagraph.Graph, _ target) bool { return setAll(g, field, v) }
}

// setAll sets a field of every op of one type. It reports whether one changed.
func setAll[O transforms.Op, T comparable](g *datagraph.Graph, field func(o O) *T, v T) bool {
	return each(g, func(o O) bool {
		p := field(o)
		had := *p
		*p = v
		return had != v
	})
}

// decoding returns changes of the decoder.
func decoding() []Change {
	orientation := func(o *transforms.Decode) *codec.Orientation { return &o.Orientation }
	alpha := func(o *transforms.Decode) *codec.Alpha { return &o.Alpha }
	gray16 := func(o *transforms.Decode) *codec.Gray16 { return &o.Gray16 }
	scale := func(o *transforms.Decode) *codec.Scale { return &o.Scale }
	gray := func(color codec.Color, backend transforms.Backend) func(*datagraph.Graph, target) bool {
		return func(g *datagraph.Graph, t target) bool {
			i := find(g, 0, isType[*transforms.Decode])
			if i < 0 || t.c != 1 && t.c != 3 || find(g, 0, isType[*transforms.Grayscale]) >= 0 {
				return false
			}
			g.Steps[i].Op.(*transforms.Decode).Color = color
			insert(g, i, &transforms.Grayscale{Channels: t.c, Backend: backend})
			return true
		}
	}
	l := grouped(groupExif, []Change{
		{Name: "exif-applied", Text: "the EXIF orientation is applied", rewrite: decodes(orientation, codec.OrientationApply)},
		{Name: "exif-ignored", Text: "the EXIF orientation is ignored", rewrite: decodes(orientation, codec.OrientationIgnore)},
	})
	l = append(l, grouped(groupAlpha, []Change{
		{Name: "alpha-drop", Text: "transparency is dropped", rewrite: decodes(alpha, codec.AlphaDrop)},
		{Name: "alpha-white", Text: "transparent pixels are blended with white", rewrite: decodes(alpha, codec.AlphaWhite)},
		{Name: "alpha-key-white", Text: "pixels of the transparent color become white", rewrite: decodes(alpha, codec.AlphaKeyWhite)},
		{Name: "alpha-black", Text: "transparent pixels are blended with black", rewrite: func(g *datagraph.Graph, _ target) bool {
			i := find(g, 0, isType[*transforms.Decode])
			if i < 0 || g.Steps[i].Op.(*transforms.Decode).Color != codec.ToRGB {
				return false
			}
			o := g.Steps[i].Op.(*transforms.Decode)
			o.Color, o.Alpha = codec.ToRGBA, codec.AlphaDrop
			insert(g, i, &transforms.AlphaComposite{Background: []float64{0}})
			return true
		}},
	})...)
	l = append(l, grouped(groupGray, []Change{
		{Name: "gray-pillow", Text: `the image is gray, as Pillow's convert("L")`, rewrite: gray(codec.ToRGB, transforms.Pillow)},
		{Name: "gray-opencv", Text: "the image is gray, as OpenCV's COLOR_BGR2GRAY", rewrite: gray(codec.ToRGB, transforms.OpenCV)},
		{Name: "gray-luma", Text: "the image is gray, as OpenCV's IMREAD_GRAYSCALE", rewrite: gray(codec.ToLuma, transforms.Pillow)},
	})...)
	l = append(l, grouped(groupGray16, []Change{
		{Name: "gray16-high", Text: "16-bit gray keeps its high byte, as in OpenCV", rewrite: decodes(gray16, codec.Gray16High)},
		{Name: "gray16-clip", Text: "16-bit gray is clipped at 255, as in Pillow", rewrite: decodes(gray16, codec.Gray16Clip)},
	})...)
	for i, name := range []string{"half", "quarter", "eighth"} {
		l = append(l, Change{
			Name: "decoded-" + name, Text: "the image is reduced before it is scaled (" + name + "), as Image.draft and IMREAD_REDUCED do and, but for rounding, Image.reduce",
			group: groupScale, rewrite: decodes(scale, codec.ScaleHalf+codec.Scale(i)),
		})
	}
	return l
}

func isResize(op transforms.Op) bool {
	return isType[*transforms.Resize](op) || isType[*transforms.Letterbox](op) || isType[*transforms.BlobCrop](op)
}

func isCrop(op transforms.Op) bool { return isType[*transforms.CenterCrop](op) }

// sized replaces the first resize, and the center crop or padding after it, by
// other ops. Ops that resize take over the first one's interpolation and
// backend.
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
	case *transforms.BlobCrop:
		r.Backend = transforms.OpenCV
	}
	for _, op := range ops {
		switch o := op.(type) {
		case *transforms.Resize:
			o.Interpolation, o.Backend, o.NoAntialias = r.Interpolation, r.Backend, r.NoAntialias
		case *transforms.Letterbox:
			o.Interpolation, o.Backend = r.Interpolation, r.Backend
		}
	}
	if c := find(g, i+1, func(op transforms.Op) bool { return isCrop(op) || isType[*transforms.PadToSize](op) }); c >= 0 {
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
	// shortest scales the shorter edge to the size times by/of.
	shortest := func(by, of int) func(g *datagraph.Graph, t target) bool {
		return func(g *datagraph.Graph, t target) bool {
			if t.h == 0 {
				return false
			}
			r := &transforms.Resize{Fit: transforms.FitShortest, Edge: t.h * by / of}
			if t.h != t.w {
				r = &transforms.Resize{Fit: transforms.FitCover, Height: t.h * by / of, Width: t.w * by / of}
			}
			if i := find(g, 0, isType[*transforms.Resize]); i >= 0 {
				r.SizeRule = g.Steps[i].Op.(*transforms.Resize).SizeRule
			}
			crop := transforms.NewCenterCrop(t.h, t.w)
			if c := find(g, 0, isCrop); c >= 0 {
				crop.CropRounding = g.Steps[c].Op.(*transforms.CenterCrop).CropRounding
			}
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
	l := grouped(groupGeometry, []Change{
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
		{Name: "squash", Text: "the whole image is scaled to the size without keeping its aspect ratio", rewrite: func(g *datagraph.Graph, t target) bool {
			return t.h > 0 && sized(g, &transforms.Resize{Fit: transforms.FitExact, Height: t.h, Width: t.w})
		}},
		{Name: "shortest-crop", Text: "the shorter edge is scaled to the size, then the center is cropped", rewrite: shortest(1, 1)},
		{Name: "margin-0.875", Text: "the shorter edge is scaled to the size divided by 0.875 (256 for 224), then the center is cropped", rewrite: shortest(8, 7)},
		{Name: "margin-0.9", Text: "the shorter edge is scaled to the size divided by 0.9 (248 for 224), then the center is cropped", rewrite: shortest(10, 9)},
		{Name: "margin-0.95", Text: "the shorter edge is scaled to the size divided by 0.95 (235 for 224), then the center is cropped", rewrite: shortest(20, 19)},
		{Name: "margin-0.965", Text: "the shorter edge is scaled to the size divided by 0.965 (232 for 224), then the center is cropped", rewrite: shortest(200, 193)},
		{Name: "letterbox-114", Text: "the image is scaled to fit and padded with 114", rewrite: boxed(114, false)},
		{Name: "letterbox-0", Text: "the image is scaled to fit and padded with black", rewrite: boxed(0, false)},
		{Name: "letterbox-128", Text: "the image is scaled to fit and padded with 128", rewrite: boxed(128, false)},
		{Name: "corner-114", Text: "the image is scaled to fit and padded with 114 at the bottom and right", rewrite: boxed(114, true)},
		{Name: "corner-0", Text: "the image is scaled to fit and padded with black at the bottom and right", rewrite: boxed(0, true)},
		{Name: "blob-crop", Text: "the image is scaled to cover the size, then the center is cropped, as OpenCV's blobFromImage with crop does", rewrite: func(g *datagraph.Graph, t target) bool {
			return t.h > 0 && sized(g, &transforms.BlobCrop{Height: t.h, Width: t.w})
		}},
	})
	for _, r := range []struct {
		name, text string
		rule       transforms.SizeRule
	}{
		{"size-truncate", "sides are truncated", transforms.SizeTruncate},
		{"size-half-even", "sides are rounded half to even", transforms.SizeHalfEven},
		{"size-half-up", "sides are rounded half up", transforms.SizeHalfUp},
	} {
		l = append(l, Change{Name: r.name, Text: r.text, group: groupSize, rewrite: func(g *datagraph.Graph, _ target) bool {
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
func cropping() []Change {
	rounding := func(r transforms.CropRounding) func(*datagraph.Graph, target) bool {
		return func(g *datagraph.Graph, _ target) bool {
			return setAll(g, func(o *transforms.CenterCrop) *transforms.CropRounding { return &o.CropRounding }, r)
		}
	}
	return grouped(groupCrop, []Change{
		{Name: "crop-half-even", Text: "the crop offset is rounded half to even, as torchvision does", rewrite: rounding(transforms.CropHalfEven)},
		{Name: "crop-floor", Text: "the crop offset is rounded down, as transformers does", rewrite: rounding(transforms.CropFloor)},
		{Name: "crop-ceil", Text: "the crop offset is rounded up", rewrite: rounding(transforms.CropCeil)},
	})
}

// resampling returns one change for each interpolation of each library.
func resampling() (l []Change) {
	for _, antialias := range []bool{true, false} {
		for _, backend := range []transforms.Backend{transforms.Pillow, transforms.OpenCV, transforms.Torch, transforms.TorchUint8, transforms.OpenCVIPP} {
			for interp := transforms.Nearest; interp <= transforms.Area; interp++ {
				probe := transforms.Resize{Fit: transforms.FitExact, Height: 1, Width: 1, Interpolation: interp, Backend: backend, NoAntialias: !antialias}
				matters := (backend == transforms.Torch || backend == transforms.TorchUint8) && (interp == transforms.Bilinear || interp == transforms.Bicubic)
				if probe.Validate() != nil || !antialias && !matters || backend == transforms.Pillow && interp == transforms.NearestExact {
					continue
				}
				s := Change{Name: fmt.Sprintf("%v-%v", backend, interp), Text: fmt.Sprintf("the image is scaled by "+libraries[backend], interp), group: groupKernel}
				switch {
				case !antialias:
					s.Name += "-no-antialias"
					s.Text += " without antialiasing"
				case backend == transforms.OpenCVIPP, backend == transforms.OpenCV && interp != transforms.Area:
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

// libraries formats an interpolation of a backend.
var libraries = map[transforms.Backend]string{
	transforms.Pillow: "Pillow's %v", transforms.OpenCV: "OpenCV's %v",
	transforms.Torch: "torch's %v", transforms.TorchUint8: "torch's %v for uint8 tensors",
	transforms.OpenCVIPP: "OpenCV's %v with IPP, as in its wheels",
}

// asFloats converts the input of step i to float32.
func asFloats(g *datagraph.Graph, i int) {
	s := g.Steps[i]
	g.Steps[i].In = s.Out[:1]
	g.Steps = slices.Insert(g.Steps, i, datagraph.Step{Op: transforms.NewToType(tensor.Float32), In: s.In[:1], Out: s.Out[:1]})
}

// ordering returns changes of the type in which the image is scaled.
func ordering() []Change {
	return grouped(groupOrder, []Change{
		{Name: "scaled-as-floats", Text: "the image is scaled as floats, and not rounded to uint8 before the division by 255", rewrite: func(g *datagraph.Graph, _ target) bool {
			i, a := find(g, 0, isResize), find(g, 0, isArithmetic)
			if i < 0 || a < i || !unfold(g) {
				return false
			}
			asFloats(g, i)
			return true
		}},
		{Name: "truncated", Text: "the scaled values are truncated to uint8 instead of rounded", rewrite: func(g *datagraph.Graph, _ target) bool {
			i, a := find(g, 0, isResize), find(g, 0, isArithmetic)
			if i < 0 || a >= 0 && a < i {
				return false
			}
			unfold(g)
			insert(g, i, transforms.NewToType(tensor.Uint8))
			asFloats(g, i)
			return true
		}},
		{Name: "scaled-as-bytes", Text: "the image is scaled as uint8, before the division by 255", rewrite: func(g *datagraph.Graph, _ target) bool {
			from, to := find(g, 0, isArithmetic), find(g, 0, isResize)
			if from < 0 || to < from {
				return false
			}
			// The steps change places, so all of them work on one column.
			column := g.Steps[from].In[0]
			for _, s := range g.Steps[from : to+1] {
				if len(s.In) != 1 {
					return false
				}
			}
			resize, last := g.Steps[to], g.Steps[to].Out[0]
			resize.In, resize.Out = []string{column}, append([]string{column}, resize.Out[1:]...)
			steps := []datagraph.Step{resize}
			for _, s := range g.Steps[from:to] {
				steps = append(steps, datagraph.Step{Op: s.Op, In: []string{column}, Out: []string{column}})
			}
			steps[len(steps)-1].Out = []string{last}
			copy(g.Steps[from:], steps)
			return true
		}},
	})
}

// mirroring returns changes of the whole tensor.
func mirroring() []Change {
	return grouped(groupTensor, []Change{
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
	})
}
