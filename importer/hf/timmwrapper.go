package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/timm"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["TimmWrapper"] = class{
			defaults:  settings{ownSize: true, resample: transforms.Bicubic},
			numpyOnly: true,
			build:     timmWrapper,
		}
	})
}

// timmWrapper adds the evaluation transforms of a timm model. The class reads
// the model's config.json, and of that pretrained_cfg alone.
func timmWrapper(b *builder, o *importer.Object) {
	noOCR(o)
	o.Inert("size")
	g := timm.Wrapped(o)
	b.Steps = g.Steps
}
