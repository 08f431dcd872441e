package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Owlv2"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, size: square(960), resample: transforms.Bilinear, mean: clipMean, std: clipStd,
				ownResample: true,
			},
			partial: "pil refuses every file: SciPy blurs and scales there, whose bits are not reproduced",
			build:   owlv2,
		}
	})
}

// owlv2 adds the steps of OWLv2's torchvision backend: the values between 0 and
// 1, zeros at the bottom or right up to a square, a blur before the image is
// reduced without antialiasing, and the normalization. The class ignores
// resample, the centre crop and pad_size.
func owlv2(b *builder, o *importer.Object) {
	noOCR(o)
	b.rescale = o.Bool("rescale", b.rescale) // of older files; it takes precedence
	if !b.torch {
		o.Bad("image_processor_type", "the torchvision backend: in the PIL backend SciPy blurs and scales the image, whose bits are not reproduced")
		return
	}
	if !b.resize {
		o.Bad("do_resize", "true: the class fails without it")
		return
	}
	s := b.size
	if s.height == 0 {
		o.Bad("size", "height and width")
		return
	}
	normalize := b.normalize
	b.normalize = false
	b.decode()
	b.values(o, 0)
	if b.pad {
		p := transforms.NewPadToSquare([]float64{0})
		p.Position = transforms.TopLeft
		b.Add(p)
	}
	b.Add(transforms.NewAntialiasBlur(s.height, s.width))
	b.noAntialias = true
	b.resizeTo(s)
	b.rescale, b.normalize = false, normalize
	b.planes(o)
}
