package hf

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Llava"] = class{
			defaults: settings{
				convertRGB: true, resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224), crop: square(224),
				resample: transforms.Bicubic, mean: clipMean, std: clipStd,
			},
			build: llava,
		}
		for _, name := range []string{"Janus", "DeepseekVL"} {
			classes[name] = class{
				defaults: settings{
					resize: true, rescale: true, normalize: true, pad: true, size: square(384),
					resample: transforms.Bicubic, mean: clipMean, std: clipStd,
				},
				build: janus,
			}
		}
		classes["DeepseekVLHybrid"] = class{defaults: classes["DeepseekVL"].defaults, build: deepseekVLHybrid}
	})
}

// llava adds the steps of the backends. do_pad pads the image to a square
// first, with the mean's colour. The class ignores pad_size.
func llava(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	if b.pad {
		none := []float64{0} // PIL's backend pads with black
		if b.torch {
			none = nil
		}
		b.padsToSquare(o, "image_mean", b.mean, none)
	}
	b.resizes()
	b.tail(o)
}

// janus adds the steps of Janus. The longer side becomes size, and each side is
// at least min_size. The image is padded to a square with the mean's colour.
// The class ignores the centre crop and pad_size.
func janus(b *builder, o *importer.Object) {
	noOCR(o)
	if v, _ := o.Get("image_mean"); o.Has("image_mean") && v != nil {
		// The class reads the mean as a list even without do_pad.
		if _, ok := importer.Floats(v, 3); !ok {
			o.Bad("image_mean", "three numbers")
			return
		}
	}
	least, ok := minSize(b, o)
	if !ok {
		return
	}
	b.decode()
	if b.resize && !b.longestMin(o, "size", b.size, least) {
		return
	}
	if b.pad {
		b.padsToSquare(o, "image_mean", b.mean, []float64{127})
	}
	b.centerCrop = false
	b.tail(o)
}

// minSize reads min_size, the least side of a resized image.
func minSize(b *builder, o *importer.Object) (least int, ok bool) {
	least = 14
	if v, ok := o.Get("min_size"); ok && !(v == nil && !b.resize) {
		if least, ok = importer.Int(v, 0, importer.MaxSide); !ok {
			o.Bad("min_size", "a whole number of 0 to 16777216")
			return 0, false
		}
	}
	return least, true
}

// longestMin adds Janus's resize to the size s of the key.
func (b *builder) longestMin(o *importer.Object, key string, s size, least int) bool {
	if s.height == 0 || s.height != s.width {
		o.Bad(key, "equal height and width")
		return false
	}
	r := &transforms.Resize{
		Fit: transforms.FitLongestMin, Edge: s.height, Height: least, Width: least, SizeRule: transforms.SizeScale,
	}
	if least == 0 {
		r.Fit = transforms.FitLongest
	}
	b.sizeRule(r)
	return true
}

// padsToSquare pads the bytes of the image to a square, with the key's mean
// times 255, truncated. none is the fill if it is null; nil means that the
// class requires a mean.
func (b *builder) padsToSquare(o *importer.Object, key string, mean, none []float64) {
	fill := none
	if mean != nil {
		fill = make([]float64, len(mean))
		for i, v := range mean {
			fill[i] = math.Trunc(float64(v * 255))
		}
	}
	v, _ := o.Get(key)
	_, list := importer.Floats(v, 3)
	if fill == nil || v != nil && !list || slices.Min(fill) < 0 || slices.Max(fill) > 255 {
		o.Bad(key, "three numbers of 0 to 1, for do_pad")
		return
	}
	b.Add(transforms.NewPadToSquare(fill))
}
