package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	classes["DPT"] = class{
		defaults: settings{resize: true, rescale: true, normalize: true, size: square(384), resample: transforms.Bicubic, mean: halves, std: halves, anySize: true},
		build:    dpt,
	}
}

// dpt adds the steps of DPTImageProcessorPil without segmentation maps. Depth
// Anything uses the class too. It ignores pad_size, and with PIL the centre
// crop.
func dpt(b *builder, o *importer.Object) {
	noOCR(o)
	keep := o.Bool("keep_aspect_ratio", false)
	multiple := 1
	if v, ok := o.Get("ensure_multiple_of"); ok {
		if multiple, ok = importer.Int(v, 1, importer.MaxSide); !ok && (v != nil || b.resize) {
			o.Bad("ensure_multiple_of", "a whole number of 1 to 16777216")
			return
		}
	}
	divisor := 0
	if !o.Null("size_divisor") {
		divisor = o.Side("size_divisor", 0)
	} else {
		o.Inert("size_divisor")
	}
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
