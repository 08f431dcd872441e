package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Donut"] = class{
			defaults: settings{ownSize: true, resize: true, rescale: true, normalize: true, pad: true, size: size{height: 2560, width: 1920}, resample: transforms.Bilinear, mean: halves, std: halves},
			build:    donut,
		}
	})
}

// donut rotates a page in landscape, scales its shorter edge to the shorter one
// of size, and scales again so that it fits. Then it centres the page on zeros,
// which are rescaled and normalised with it. The class ignores pad_size.
func donut(b *builder, o *importer.Object) {
	noOCR(o)
	// Here a list is [width, height], and null means the default.
	if v, ok := o.Get("size"); ok && v != nil {
		if l, ok := importer.Ints(v, 2, 1, importer.MaxSide); ok {
			b.size = size{height: l[1], width: l[0]}
		} else {
			readSize(o, "size", &b.size, !b.notSquare, false)
		}
	}
	thumbnail, align := o.Bool("do_thumbnail", true), o.Bool("do_align_long_axis", false)
	if (align || b.resize || thumbnail || b.pad) && b.size.height == 0 {
		o.Bad("size", "height and width")
		return
	}
	b.wantsResample(o)

	b.decode()
	if align {
		b.Add(transforms.NewAlignLongAxis(b.size.height, b.size.width))
	}
	if b.resize {
		b.resizeTo(shortest(min(b.size.height, b.size.width)))
	}
	if thumbnail {
		r := &transforms.Resize{Fit: transforms.FitThumbnail, Height: b.size.height, Width: b.size.width}
		r.Interpolation, r.Backend = b.kernel()
		// The PIL backend takes 0, the number of nearest, for no value, and
		// uses bicubic, as for null.
		if !b.torch && (r.Interpolation == transforms.Nearest || o.Null("resample")) {
			r.Interpolation = transforms.Bicubic
		}
		b.Add(r)
	}
	if b.pad {
		b.centres(b.size.height, b.size.width)
	}
	b.tail(o)
}

// wantsResample rejects a null resample if the class resizes, as transformers
// does. Classes with ownSize need it.
func (b *builder) wantsResample(o *importer.Object) {
	if b.resize && o.Null("resample") {
		o.Bad("resample", "a Pillow resampling number, for do_resize")
	}
}

// wantsNoResize rejects do_resize without a resample for a class that ignores
// both but has no resample of its own, as transformers does.
func (b *builder) wantsNoResize(o *importer.Object) {
	if b.resize && !o.Has("resample") {
		o.Bad("resample", "a Pillow resampling number, for do_resize")
	}
}
