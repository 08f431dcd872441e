package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Nougat"] = class{
			defaults: settings{ownSize: true, resize: true, rescale: true, normalize: true, pad: true, size: size{height: 896, width: 672}, resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd},
			build:    nougat,
		}
		const mean, std = 0.7931, 0.1738
		classes["PPFormulaNet"] = class{
			defaults:  settings{ownSize: true, resize: true, rescale: true, normalize: true, pad: true, size: square(768), resample: transforms.Bilinear, mean: []float64{mean, mean, mean}, std: []float64{std, std, std}},
			torchOnly: true,
			build:     nougat,
		}
	})
}

// nougat crops a page's light margin, scales its shorter edge to the shorter
// one of size, and scales again so that it fits, always bicubic. Then it
// centres the page on zeros, which are rescaled and normalised with it. The
// class ignores pad_size and the centre crop. With PIL, a page that the second
// step reduces to a quarter or less is an ErrInput; see SizeTruncateGap.
func nougat(b *builder, o *importer.Object) {
	noOCR(o)
	readSize(o, "size", &b.size, !b.notSquare, false)
	margin, thumbnail, align := o.Bool("do_crop_margin", true), o.Bool("do_thumbnail", true), o.Bool("do_align_long_axis", false)
	if (align || b.resize || thumbnail || b.pad) && b.size.height == 0 {
		o.Bad("size", "height and width")
		return
	}
	b.wantsResample(o)
	if align && b.torch {
		o.Bad("do_align_long_axis", "false: transformers' torchvision backend rotates the channels instead of the page; the PIL backend can")
		return
	}

	b.decode()
	if margin {
		c := transforms.NewCropMargin()
		if b.torch {
			c.Backend = transforms.Torch
		}
		b.Add(c)
	}
	if align {
		b.Add(transforms.NewAlignLongAxis(b.size.height, b.size.width))
	}
	if b.resize {
		b.resizeTo(shortest(min(b.size.height, b.size.width)))
	}
	if thumbnail {
		r := &transforms.Resize{Fit: transforms.FitThumbnail, Height: b.size.height, Width: b.size.width}
		_, r.Backend = b.kernel()
		r.Interpolation = transforms.Bicubic
		if !b.torch {
			r.SizeRule = transforms.SizeTruncateGap
		}
		b.Add(r)
	}
	if b.pad {
		b.centres(b.size.height, b.size.width)
	}
	b.centerCrop = false
	b.tail(o)
}

// centres adds the padding of Donut and Nougat. torchvision crops a page that
// is larger.
func (b *builder) centres(height, width int) {
	if !b.torch {
		b.Add(transforms.NewPadToSize(height, width))
		return
	}
	c := transforms.NewCenterCrop(height, width)
	c.CropRounding = transforms.CropCeil
	b.Add(c)
}
