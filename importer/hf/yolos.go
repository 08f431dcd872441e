package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Yolos"] = class{defaults: detrDefaults, build: yolos}
	})
}

// yolosMultiple is the mod_size of get_size_with_aspect_ratio_yolos, the side
// of a patch.
const yolosMultiple = 16

// yolos adds the steps of detr. With the aspect ratio kept, sides are multiples
// of the patch's side.
func yolos(b *builder, o *importer.Object) { detection(b, o, transforms.SizeCapUnroundedDown) }
