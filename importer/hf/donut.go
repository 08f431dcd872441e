package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	classes["Donut"] = class{
		defaults: settings{ownSize: true, resize: true, rescale: true, normalize: true, pad: true, size: size{height: 2560, width: 1920}, resample: transforms.Bilinear, mean: halves, std: halves},
		build:    donut,
	}
}

// donut turns a page that lies on its side, scales its shorter edge to that of
// size, scales again so that it fits, and centres it on zeros, which are
// rescaled and normalised with it. pad_size is ignored.
func donut(b *builder, o *importer.Object) {
	noOCR(o)
	// A list is [width, height] here, and null is the default.
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
		r := &transforms.Resize{Fit: transforms.FitThumbnail, Height: b.size.height, Width: b.size.width, Interpolation: b.resample, Backend: transforms.Pillow}
		// The number of nearest, 0, counts as none, and so does null: then it
		// is bicubic.
		if r.Interpolation == transforms.Nearest || o.Null("resample") {
			r.Interpolation = transforms.Bicubic
		}
		b.Add(r)
	}
	if b.pad {
		b.Add(transforms.NewPadToSize(b.size.height, b.size.width))
	}
	b.tail(o)
}

// wantsResample is what transformers demands of a class with ownSize that
// resizes.
func (b *builder) wantsResample(o *importer.Object) {
	if b.resize && o.Null("resample") {
		o.Bad("resample", "a Pillow resampling number, for do_resize")
	}
}
