package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["PoolFormer"] = class{
			defaults: settings{
				resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224), crop: square(224),
				resample: transforms.Bicubic, mean: imagenetMean, std: imagenetStd,
			},
			build: poolFormer,
		}
	})
}

// poolFormer adds the steps of PoolFormer, which divides the size by crop_pct
// before it resizes.
func poolFormer(b *builder, o *importer.Object) {
	noOCR(o)
	pct, ok := cropPct(o, 0.9)
	if !ok {
		return
	}
	b.decode()
	if b.resize {
		s := b.size
		scaled := func(n int) int { return truncated(float64(n)/pct, o) }
		switch {
		case pct == 0:
			b.resizeTo(s)
		case s.shortest > 0:
			b.resizeTo(shortest(scaled(s.shortest)))
		case s.height > 0 && s.height == s.width:
			b.resizeTo(shortest(scaled(s.height)))
		case s.height > 0:
			b.resizeTo(size{height: scaled(s.height), width: scaled(s.width)})
		default:
			o.Bad("size", "shortest_edge, or height and width")
			return
		}
	}
	b.tail(o)
	b.pads(o)
}
