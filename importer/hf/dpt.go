package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["DPT"] = class{
			defaults: settings{resize: true, rescale: true, normalize: true, size: square(384), resample: transforms.Bicubic, mean: halves, std: halves, anySize: true},
			build:    func(b *builder, o *importer.Object) { dpt(b, o, false, 1, 0) },
		}
		classes["CHMv2"] = class{
			defaults: settings{
				rescale: true, normalize: true, pad: true, size: square(384), resample: transforms.Bicubic,
				mean: []float64{0.420, 0.411, 0.296}, std: []float64{0.213, 0.156, 0.143}, anySize: true,
			},
			torchOnly: true,
			build:     func(b *builder, o *importer.Object) { dpt(b, o, true, 16, 16) },
		}
	})
}

// dpt adds the steps of DPTImageProcessor without segmentation maps, with the
// defaults of keep_aspect_ratio, ensure_multiple_of and size_divisor. Depth
// Anything uses the class too. It ignores pad_size, and with PIL the centre
// crop.
func dpt(b *builder, o *importer.Object, keep bool, multiple, divisor int) {
	noOCR(o)
	keep = o.Bool("keep_aspect_ratio", keep)
	if v, ok := o.Get("ensure_multiple_of"); ok {
		if multiple, ok = importer.Int(v, 1, importer.MaxSide); !ok && (v != nil || b.resize) {
			o.Bad("ensure_multiple_of", "a whole number of 1 to 16777216")
			return
		}
	}
	divisor = nullSide(o, "size_divisor", divisor, 0)
	if b.torch && b.pad && divisor == 0 {
		o.Bad("size_divisor", "a whole number of 1 to 16777216, for do_pad")
		return
	}
	b.decode()
	if b.resize {
		if b.size.height == 0 {
			o.Bad("size", "height and width")
			return
		}
		r := &transforms.Resize{
			Fit: transforms.FitMultiple, Height: b.size.height, Width: b.size.width, Multiple: multiple, KeepAspect: keep,
			SizeRule: transforms.SizeHalfEven,
		}
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.centerCrop = b.centerCrop && b.torch
	b.tail(o)
	if b.pad && divisor > 0 {
		b.Add(transforms.NewPadToMultiple(divisor))
	}
}
