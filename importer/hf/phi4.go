package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Phi4Multimodal"] = class{
			output: "image_pixel_values",
			defaults: settings{
				convertRGB: true, rescale: true, normalize: true, size: square(448),
				resample: transforms.Bicubic, mean: halves, std: halves,
			},
			torchOnly: true,
			build:     phi4,
		}
	})
}

// phi4 adds the steps of Phi-4 Multimodal. The image is scaled bilinearly into
// a canvas of tiles and padded with white. The first tile is the canvas, scaled
// after the values are computed. The outputs are image_pixel_values (tiles,
// channels, height, width), image_sizes, int64 (2), the canvas's height and
// width, and image_attention_mask, float32 (tiles, rows, columns), which marks
// the patches that show the image. num_img_tokens is for the text and left out.
// The class ignores do_resize, the centre crop and padding.
func phi4(b *builder, o *importer.Object) {
	noOCR(o)
	patch, most := o.Side("patch_size", 14), max(o.Int("dynamic_hd", 36, 0, maxTiles), 1)
	s := b.size
	if s.height == 0 || s.height != s.width || s.height < patch {
		o.Bad("size", "equal height and width, at least patch_size")
		return
	}
	b.alwaysResizes(o)
	if b.resample == transforms.Lanczos {
		o.Bad("resample", "0, 2 or 3: the class does not antialias, which torchvision's lanczos requires")
		return
	}
	r := transforms.NewResizeToTiles(s.height, s.width, 1, most)
	r.Rule, r.Fit, r.Fill, r.MinSide = transforms.TilesCeil, transforms.TileFloor, []float64{255}, 10
	r.Interpolation, r.Backend = transforms.Bilinear, transforms.TorchUint8

	const content = "content"
	b.decode()
	b.Then(r, []string{datagraph.Image}, []string{datagraph.Image, unused, unused + "_choice", content})
	b.planes(o)
	b.output("image_sizes", transforms.NewImageSize(), datagraph.Image)
	small := &transforms.Resize{Height: s.height, Width: s.width, NoAntialias: true}
	small.Interpolation, small.Backend = b.kernel()
	b.Then(small, []string{datagraph.Image}, []string{thumbnail})
	const marks = "image_attention_mask"
	mask := transforms.NewPatchMask(s.height, s.width, patch)
	mask.Whole = true
	b.Then(mask, []string{datagraph.Image, content}, []string{marks})
	b.Outputs = append(b.Outputs, marks)
	b.Add(transforms.NewSplitTiles(s.height, s.width))
	b.joins(true, true)
	b.padsBatch(b.Outputs[0])
	b.SetBatch(marks, datagraph.Batching{Rule: datagraph.BatchPad, Value: 1})
}
