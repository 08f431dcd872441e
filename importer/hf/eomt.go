package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Eomt"] = class{
			defaults: settings{
				resize: true, rescale: true, normalize: true, notSquare: true, size: size{shortest: 640, longest: 640}, resample: transforms.Bilinear,
				mean: imagenetMean, std: imagenetStd, anySize: true,
			},
			build: eomt,
		}
	})
}

// eomt adds the steps of EoMT without segmentation maps. With do_split_image
// pixel_values is (windows, 3, height, width), windows along the longer side of
// as many pixels as the shorter edge of size, and the output patch_offsets is
// int64 (windows, 3): 0, start and end of each. do_pad is supported for sizes
// that it does not change, and for a shortest_edge equal to the longest_edge.
// The class ignores the centre crop and pad_size.
func eomt(b *builder, o *importer.Object) {
	noOCR(o)
	o.Inert("ignore_index", "num_labels") // of segmentation maps
	split := o.Bool("do_split_image", false)
	s := b.size
	if (split || b.pad) && s.shortest == 0 {
		o.Bad("size", "shortest_edge, for do_split_image and do_pad")
		return
	}
	if b.pad && (!b.resize || s.longest != 0 && s.longest != s.shortest) {
		o.Bad("do_pad", "false, unless the image is scaled to a shortest_edge alone, or equal to the longest_edge")
		return
	}
	b.decode()
	if b.resize {
		b.resizeTo(s)
	}
	if b.pad && s.longest != 0 {
		p := transforms.NewPadToSize(s.shortest, s.shortest)
		p.Position = transforms.TopLeft
		b.Add(p)
	}
	b.planes(o)
	if split {
		const offsets = "patch_offsets"
		b.Then(transforms.NewSplitSide(s.shortest), []string{datagraph.Image}, []string{datagraph.Image, offsets})
		b.Outputs = append(b.Outputs, offsets)
	}
}
