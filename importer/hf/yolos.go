package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	classes["Yolos"] = class{defaults: detrDefaults, build: yolos}
}

// yolosMultiple is the mod_size of get_size_with_aspect_ratio_yolos: the sides
// of a patch.
const yolosMultiple = 16

// yolos is detr with sides that are multiples of the patch's, where the aspect
// is kept.
func yolos(b *builder, o *importer.Object) { detection(b, o, transforms.SizeYOLOS) }
