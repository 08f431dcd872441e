package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Siglip2"] = class{
			defaults: settings{ownSize: true, resize: true, rescale: true, normalize: true, resample: transforms.Bilinear, mean: halves, std: halves},
			build:    siglip2,
		}
	})
}

// siglip2 adds the steps of NaFlex: at most max_num_patches patches, row by
// row, padded with zeros. The outputs are pixel_values (max_num_patches,
// patch_size² · 3), pixel_attention_mask, int32 (max_num_patches), and
// spatial_shapes, int64 (2). spatial_shapes holds the numbers of rows and
// columns of patches. The class ignores size. Without do_resize there may be
// more patches; the mask does not grow with them.
func siglip2(b *builder, o *importer.Object) {
	noOCR(o)
	readSize(o, "size", new(size), !b.notSquare, false)
	patch, most := o.Side("patch_size", 16), o.Side("max_num_patches", 256)

	b.decode()
	if b.resize {
		r := transforms.NewResizeToPatches(patch, most)
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.values(o, 0)
	p := transforms.NewPatchify(patch)
	p.Layout = tensor.HWC
	b.Then(p, []string{datagraph.Image}, []string{datagraph.Image, "spatial_shapes"})
	s := transforms.NewPadSequence(most)
	s.KeepLonger = !b.resize
	b.Then(s, []string{datagraph.Image}, []string{datagraph.Image, "pixel_attention_mask"})
	b.Outputs = append(b.Outputs, "pixel_attention_mask", "spatial_shapes")
}
