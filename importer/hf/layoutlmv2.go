package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["LayoutLMv2"] = class{
			defaults: settings{resize: true, size: square(224), resample: transforms.Bilinear},
			build:    layoutLMv2,
		}
	})
}

// layoutLMv2 adds the steps of LayoutLMv2: a resize, and the channels in the
// order BGR, in uint8. The class ignores all other settings of the values.
func layoutLMv2(b *builder, o *importer.Object) {
	wantsNoOCR(o, "LayoutLMv2")
	b.decode()
	b.resizes()
	b.Add(transforms.NewConvertColor(transforms.RGB, transforms.BGR))
	b.Add(transforms.NewHWC2CHW())
}
