package hf

import (
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["ZoeDepth"] = class{
			defaults: settings{
				resize: true, rescale: true, normalize: true, pad: true, size: size{height: 384, width: 512}, resample: transforms.Bilinear,
				mean: halves, std: halves, anySize: true,
			},
			build: zoeDepth,
		}
	})
}

// zoeDepth adds the steps of ZoeDepth: it rescales, reflects the borders and
// resizes the floats with align_corners, with torch in both backends. The class
// ignores the crop and pad_size. A result of one row or column is an error of
// PIL's backend, but not here.
func zoeDepth(b *builder, o *importer.Object) {
	noOCR(o)
	r := transforms.NewResizeAlignCorners(b.size.height, b.size.width)
	r.KeepAspect = o.Bool("keep_aspect_ratio", true)
	r.Multiple, r.SizeRule = 32, transforms.SizeFraction // the default is 1/32
	if v, ok := o.Get("ensure_multiple_of"); ok && !(v == nil && !b.resize) {
		f, ok := importer.Float(v)
		part := math.Round(1 / f)
		switch {
		case ok && f >= 1 && f <= importer.MaxSide && f == math.Trunc(f):
			r.Multiple, r.SizeRule = int(f), transforms.SizeHalfEven
		case ok && f > 0 && part <= importer.MaxSide && f == 1/part:
			r.Multiple = int(part)
		default:
			o.Bad("ensure_multiple_of", "a whole number of 1 to 16777216, or 1 divided by one")
			return
		}
	}

	b.decode()
	b.rescales(o)
	if b.pad {
		p := transforms.NewPadSqrt(3)
		p.Once = b.torch
		b.Add(p)
	}
	if b.resize {
		switch {
		case b.size.height == 0:
			o.Bad("size", "height and width")
			return
		case b.resample != transforms.Bilinear && b.resample != transforms.Bicubic:
			o.Bad("resample", "2 or 3")
			return
		}
		r.Interpolation = b.resample
		b.Add(r)
	}
	if b.torch {
		b.normalizesFloats(o)
	} else if b.normalize {
		b.normalizes(b.mean, b.std)
	}
	b.Add(transforms.NewHWC2CHW())
}
