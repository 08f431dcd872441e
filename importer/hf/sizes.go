package hf

import (
	"slices"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes differ from the backends in the size of the resized image.
func init() {
	define(func(classes map[string]class) {
		classes["GLPN"] = class{
			defaults: settings{ownSize: true, resize: true, rescale: true, resample: transforms.Bilinear},
			build:    glpn,
		}
		classes["TextNet"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, notSquare: true, size: shortest(640), crop: square(224),
				resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd,
			},
			build: textNet,
		}
		classes["PPLCNet"] = class{
			defaults: settings{
				resize: true, centerCrop: true, rescale: true, normalize: true, size: square(256), crop: square(224),
				resample: transforms.Bilinear, mean: []float64{0.406, 0.456, 0.485}, std: []float64{0.225, 0.224, 0.229},
			},
			torchOnly: true,
			build:     ppLCNet,
		}
		classes["Perceiver"] = class{
			defaults: settings{
				resize: true, centerCrop: true, rescale: true, normalize: true, size: square(224), crop: square(256),
				resample: transforms.Bicubic, mean: imagenetMean, std: imagenetStd,
			},
			build: perceiver,
		}
		classes["Idefics"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(224),
				resample: transforms.Bicubic, mean: clipMean, std: clipStd,
			},
			build: idefics,
		}
		classes["PromptDepthAnything"] = class{
			defaults: classes["DPT"].defaults,
			build:    promptDepthAnything,
		}
		classes["Swin2SR"] = class{
			defaults: settings{ownPad: true, rescale: true, pad: true},
			build:    swin2SR,
		}
	})
}

// glpn adds the steps of GLPN: the sides are reduced to multiples of
// size_divisor. The class ignores size, the crop and the padding.
func glpn(b *builder, o *importer.Object) {
	noOCR(o)
	readSize(o, "size", new(size), !b.notSquare, true)
	divisor := ownNumber(b, o, "size_divisor", 32)
	b.decode()
	if b.resize {
		b.sizeRule(&transforms.Resize{Fit: transforms.FitAligned, Multiple: divisor})
	}
	b.centerCrop = false
	b.tail(o)
}

// ownNumber reads a whole number that the class needs to resize. Without
// do_resize null is valid too.
func ownNumber(b *builder, o *importer.Object, key string, def int) int {
	if !b.resize {
		return nullSide(o, key, def, def)
	}
	return o.Side(key, def)
}

// textNet adds the steps of TextNet: the resized sides grow to multiples of
// size_divisor. The class ignores the padding and a longest_edge.
func textNet(b *builder, o *importer.Object) {
	noOCR(o)
	divisor := ownNumber(b, o, "size_divisor", 32)
	b.decode()
	if b.resize {
		if b.size.shortest == 0 {
			o.Bad("size", "shortest_edge")
			return
		}
		b.sizeRule(&transforms.Resize{
			Fit: transforms.FitShortest, Edge: b.size.shortest, Multiple: divisor, SizeRule: transforms.SizeTruncateUp,
		})
	}
	b.tail(o)
}

// ppLCNet adds the steps of PP-LCNet. resize_short, unless it is null, takes
// precedence over size. The outputs' channels are in the order BGR. The class
// ignores the padding.
func ppLCNet(b *builder, o *importer.Object) {
	noOCR(o)
	edge, divisor := nullSide(o, "resize_short", 256, 0), nullSide(o, "size_divisor", 1, 1)
	b.decode()
	switch {
	case b.resize && edge > 0:
		b.sizeRule(&transforms.Resize{Fit: transforms.FitShortest, Edge: edge, Multiple: divisor, SizeRule: transforms.SizeScaleUp})
	case b.resize:
		b.resizeTo(b.size)
	}
	b.swapChannels()
	b.tail(o)
}

// swapChannels reverses the channels, for a class that does it at the end. It
// reverses the mean and the deviation too, so that the values are the same.
func (b *builder) swapChannels() {
	b.Add(transforms.NewConvertColor(transforms.RGB, transforms.BGR))
	b.mean, b.std = reversed(b.mean), reversed(b.std)
}

// reversed returns a reversed copy.
func reversed(l []float64) []float64 {
	l = slices.Clone(l)
	slices.Reverse(l)
	return l
}

// perceiver adds the steps of Perceiver: a crop of size / crop_size times the
// shorter side comes before the resize. The class ignores the padding. A crop
// without pixels is an error, which PIL's backend returns an image for.
func perceiver(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	if b.centerCrop {
		if b.size.height == 0 {
			o.Bad("size", "height and width, for do_center_crop")
			return
		}
		if b.crop.height == 0 {
			o.Bad("crop_size", "height and width")
			return
		}
		c := transforms.NewCenterCropFraction(
			float64(b.size.height)/float64(b.crop.height), float64(b.size.width)/float64(b.crop.width))
		c.CropRounding = b.cropRounding()
		b.Add(c)
		b.centerCrop = false
	}
	b.resizes()
	b.tail(o)
}

// idefics adds the steps of the backends. image_size takes precedence over
// size.
func idefics(b *builder, o *importer.Object) {
	if !o.Null("image_size") && o.Has("image_size") {
		b.size = square(o.Side("image_size", 0))
	}
	o.Inert("image_size", "image_num_channels")
	plain(b, o)
}

// promptDepthAnything adds the steps of DPT without a crop. Prompt depth is not
// part of the graph. The class ignores do_convert_rgb.
func promptDepthAnything(b *builder, o *importer.Object) {
	o.Inert("prompt_scale_to_meter")
	b.convertRGB, b.centerCrop = false, false
	b.pad = b.pad && o.Has("size_divisor") && !o.Null("size_divisor")
	dpt(b, o, false, 1, 0)
}

// swin2SR adds the steps of Swin2SR: a reflection at the bottom and right up to
// the next multiples of size_divisor, which older files call pad_size. The
// class ignores the other steps.
func swin2SR(b *builder, o *importer.Object) {
	noOCR(o)
	key := "size_divisor"
	if !o.Has(key) && o.Has("pad_size") && !o.Null("pad_size") {
		key = "pad_size"
	}
	divisor := 8
	if b.pad {
		divisor = o.Side(key, 8)
	}
	o.Inert("size_divisor", "pad_size")
	if b.resize && !o.Has("resample") { // the class has no default
		o.Bad("resample", "a Pillow resampling number, for do_resize")
		return
	}
	b.decode()
	b.normalize, b.centerCrop = false, false
	b.tail(o)
	if b.pad {
		p := transforms.NewPadToMultiple(divisor)
		p.Position, p.Mode, p.Next, p.Once = transforms.TopLeft, transforms.PadSymmetric, true, b.torch
		b.Add(p)
	}
}
