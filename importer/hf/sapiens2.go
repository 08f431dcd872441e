package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Sapiens2"] = class{
			defaults: settings{
				resize: true, rescale: true, normalize: true, size: size{height: 1024, width: 768}, crop: square(224),
				resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd,
			},
			torchOnly: true, build: sapiens2,
		}
	})
}

// sapiens2 adds the steps for a whole image. With do_pad, it is scaled within
// size and centred on zeros. Crops of boxes, segmentation maps and keypoints
// are outside of the graph. The class ignores pad_size.
func sapiens2(b *builder, o *importer.Object) {
	noOCR(o)
	o.Inert("keypoint_heatmap_downscale_factor", "keypoint_heatmap_sigma")
	b.decode()
	switch s := b.size; {
	case !b.resize:
	case !b.pad:
		b.resizeTo(s)
	case s.height == 0:
		o.Bad("size", "height and width, for do_pad")
		return
	default:
		b.resizeTo(size{maxHeight: s.height, maxWidth: s.width})
		b.cropTo(s.height, s.width)
	}
	b.tail(o)
}
