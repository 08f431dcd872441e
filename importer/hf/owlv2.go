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
			build: owlv2,
		}
	})
}

// owlv2 adds the steps of OWLv2: the values between 0 and 1, zeros at the
// bottom or right up to a square, the resize, and the normalization.
// torchvision's backend blurs the image before it is reduced without
// antialiasing. PIL's backend resizes with SciPy. The class ignores the centre
// crop, pad_size and, but for PIL's 0, resample.
func owlv2(b *builder, o *importer.Object) {
	noOCR(o)
	b.rescale = o.Bool("rescale", b.rescale) // of older files; it takes precedence
	if b.torch && !b.resize {
		o.Bad("do_resize", "true: the class fails without it")
		return
	}
	s := b.size
	switch {
	case !b.resize:
	case s.height == 0:
		o.Bad("size", "height and width")
		return
	case !b.torch && (s.height == 1 || s.height == 3):
		o.Bad("size", "another height than 1 and 3: the PIL backend takes so many rows for channels")
		return
	}
	if !b.torch && b.rescale && b.factor < 0 {
		o.Bad("rescale_factor", "0 or more: the signs of zeros are not reproduced for the PIL backend")
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
	switch {
	case b.torch:
		b.Add(transforms.NewAntialiasBlur(s.height, s.width))
		b.noAntialias = true
		b.resizeTo(s)
	case b.resize:
		z := transforms.NewResizeZoom(s.height, s.width)
		// The class passes resample for the argument anti_aliasing.
		n, ok := importer.Int(o.Peek("resample"), 0, 5)
		z.NoAntialias = ok && n == 0
		b.Add(z)
	}
	b.rescale, b.normalize = false, normalize
	b.planes(o)
}
