package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["MiniCPMV4_6"] = class{
			batch: batchRules{output: datagraph.BatchSingle, "target_sizes": datagraph.BatchConcat},
			defaults: settings{
				ownSize: true, convertRGB: true, resize: true, rescale: true, normalize: true, resample: transforms.Bicubic, mean: halves, std: halves,
			},
			build: func(b *builder, o *importer.Object) { miniCPM(b, o, false) },
		}
		ocr := classes["MiniCPMV4_6"]
		ocr.torchOnly = true
		ocr.build = func(b *builder, o *importer.Object) { miniCPM(b, o, true) }
		classes["MiniCPMOcr"] = ocr
	})
}

// miniCPM adds the steps of MiniCPM-V 4.6, or of MiniCPM-OCR: the whole image
// and, for a large one, its slices. The outputs are pixel_values (1, 3,
// patch_size, patches · patch_size), the patches side by side; target_sizes,
// int32 (1 + slices, 2), their lines and columns; grids, int64 (2), the rows
// and columns of slices; and num_patches_per_image, an int64 scalar, 1 +
// slices. transformers joins pixel_values of several images along the last
// axis; their rule is single. The classes ignore size.
func miniCPM(b *builder, o *importer.Object, ocr bool) {
	noOCR(o)
	readSize(o, "size", new(size), !b.notSquare, true)
	const maxSide, maxSlices = 1 << 16, 34 // those of ResizeToSlices
	r := transforms.NewResizeToSlices(o.Int("patch_size", 14, 1, maxSide), o.Int("scale_resolution", 448, 1, maxSide), 0)
	most := o.Int("max_slice_nums", 9, 0, maxSlices)
	if r.MaxSlices = max(most, 1); !o.Bool("slice_mode", true) {
		r.MaxSlices = 1
	}
	mode := o.String("downsample_mode")
	if mode == "4x" || ocr && !o.Has("downsample_mode") {
		r.Merge = 2
	}
	if ocr {
		switch s := o.String("small_image_upsize"); {
		case s == "adaptive":
			o.Bad("small_image_upsize", `"always" or "never": the size by glyphs, which OpenCV finds, is not supported`)
		case s != "always" && o.Has("small_image_upsize"):
			r.KeepSmall = true
		}
	}
	if !b.resize {
		o.Bad("do_resize", "true: without it the class fails, or fails for most sizes")
	}
	b.alwaysResizes(o)
	r.Interpolation, r.Backend = b.kernel()

	o.Inert("use_image_id") // for the text
	const canvas, grids, sizes = "canvas", "grids", "target_sizes"
	b.decode()
	c := *r
	c.Canvas = true
	b.Then(&c, []string{datagraph.Image}, []string{canvas, grids, sizes})
	b.Then(r, []string{datagraph.Image}, []string{datagraph.Image, unused, unused + "_sizes"})
	for _, column := range []string{canvas, datagraph.Image} {
		b.branch(column, column, func(c *builder) {
			if c.torch {
				c.Add(transforms.NewToType(tensor.Float32))
				c.float = true
			}
			c.planes(o)
		})
	}
	b.Then(transforms.NewPatchStrip(r.Patch), []string{datagraph.Image, canvas, sizes}, []string{datagraph.Image})
	b.Outputs = append(b.Outputs, sizes, grids)
	b.output("num_patches_per_image", transforms.NewRowCount(), sizes)
}
