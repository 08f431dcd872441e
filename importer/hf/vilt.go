package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Vilt"] = class{
			defaults: settings{
				resize: true, rescale: true, normalize: true, pad: true, notSquare: true, size: shortest(384),
				resample: transforms.Bicubic, mean: halves, std: halves,
			},
			build: vilt,
		}
		classes["BridgeTower"] = class{
			defaults: settings{
				resize: true, centerCrop: true, rescale: true, normalize: true, pad: true, notSquare: true, size: shortest(288), crop: shortest(288),
				resample: transforms.Bicubic, mean: clipMean, std: clipStd,
			},
			build: bridgeTower,
		}
	})
}

// vilt adds the steps of ViLT: the shorter side becomes shortest_edge, unless
// the longer one would be above 1333/800 of it, and the sides are reduced to
// multiples of size_divisor. The class ignores the crop and pad_size.
func vilt(b *builder, o *importer.Object) {
	b.centerCrop = false
	divisor := 1 // torchvision's backend takes null for no divisor
	if !b.torch || !o.Null("size_divisor") {
		divisor = ownNumber(b, o, "size_divisor", 32)
	}
	o.Inert("size_divisor")
	b.viltSteps(o, divisor)
}

// bridgeTower adds the steps of BridgeTower, which are ViLT's with a centre
// crop, a square whose side is crop_size's shortest_edge.
func bridgeTower(b *builder, o *importer.Object) {
	if b.centerCrop {
		if b.crop.shortest == 0 {
			o.Bad("crop_size", "shortest_edge")
			return
		}
		b.crop = square(b.crop.shortest)
	}
	b.viltSteps(o, ownNumber(b, o, "size_divisor", 32))
}

// viltSteps adds the steps that the classes share.
func (b *builder) viltSteps(o *importer.Object, divisor int) {
	noOCR(o)
	b.decode()
	if b.resize {
		edge := b.size.shortest
		if edge == 0 {
			o.Bad("size", "shortest_edge")
			return
		}
		const ratio = 1333.0 / 800
		b.sizeRule(&transforms.Resize{
			Fit: transforms.FitShortest, Edge: edge, MaxEdge: truncated(float64(float64(ratio)*float64(edge)), o), Multiple: divisor,
			SizeRule: transforms.SizeCapHalfUpDown,
		})
	}
	b.tail(o)
	if b.pad {
		b.padsWithMask(size{}, o)
	}
}
