package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Pixtral"] = class{
			batch: batchRules{output: datagraph.BatchPad},
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, size: size{longest: 1024},
				resample: transforms.Bicubic, mean: clipMean, std: clipStd, anySize: true,
			},
			build: pixtral,
		}
	})
}

// pixtral reduces images larger than size, and enlarges them to whole patches.
// The output image_sizes, int64 (2), is the height and width: after the centre
// crop with PIL, before it with torchvision. The class ignores pad_size.
func pixtral(b *builder, o *importer.Object) {
	noOCR(o)
	patch := square(16)
	readSize(o, "patch_size", &patch, true, true)
	b.decode()
	if b.resize {
		r := &transforms.Resize{Fit: transforms.FitInside, Height: b.size.height, Width: b.size.width, Multiple: patch.height, SizeRule: transforms.SizeShrinkUp}
		switch {
		case b.size.longest > 0:
			r.Height, r.Width = b.size.longest, b.size.longest
		case b.size.height == 0:
			o.Bad("size", "longest_edge, or height and width")
			return
		}
		if patch.height == 0 || patch.height != patch.width {
			o.Bad("patch_size", "equal height and width")
			return
		}
		b.sizeRule(r)
	}
	if b.torch && b.centerCrop {
		b.sizes()
		b.tail(o)
		return
	}
	b.tail(o)
	b.sizes()
}
