package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Idefics3"] = class{
			batch: tilesPadded,
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, size: size{longest: 4 * 364},
				resample: transforms.Lanczos, mean: halves, std: halves, anySize: true,
			},
			build: func(b *builder, o *importer.Object) { idefics3(b, o, 364, 0) },
		}
		classes["SmolVLM"] = classes["Idefics3"]
		ultra := classes["Idefics3"].defaults
		ultra.size = size{longest: 3072}
		classes["UltraVBert"] = class{defaults: ultra, torchOnly: true, batch: tilesPadded, build: func(b *builder, o *importer.Object) {
			idefics3(b, o, 512, o.Side("max_image_tiles", 27))
		}}
	})
}

// idefics3Longest is MAX_IMAGE_SIZE of Idefics3.
const idefics3Longest = 4096

// idefics3 adds the steps of Idefics3: the longer edge becomes size, both sides
// grow to multiples of a tile, max_image_size, and the last of several tiles is
// the whole image. With padding, the output pixel_attention_mask, int64 (tiles,
// height, width), is ones. The class ignores the centre crop and pad_size.
// side is the default of max_image_size. UltraVBert first reduces the longer
// edge until there are at most tiles tiles; 0 means any number.
func idefics3(b *builder, o *importer.Object, side, tiles int) {
	noOCR(o)
	if o.Has("max_image_size") {
		if d := o.Object("max_image_size"); d != nil {
			if side = d.Side("longest_edge", 0); side == 0 {
				d.Bad("longest_edge", "a whole number of 1 to 16777216")
			}
		} else {
			o.Bad("max_image_size", "an object with longest_edge")
		}
	}
	if side == 0 {
		return
	}
	if o.Bool("return_row_col_info", false) {
		o.Bad("return_row_col_info", "false: the model takes no rows and columns")
	}
	b.alwaysResizes(o)
	split := o.Bool("do_image_splitting", true)
	b.decode()
	if b.resize {
		switch s := b.size; {
		case split && tiles > 0:
			if s.longest == 0 || s.longest/side > maxTiles {
				o.Bad("size", "longest_edge of at most 1024 tiles")
				return
			}
			r := transforms.NewResizeToPatches(side, tiles)
			r.Rule, r.MaxSide = transforms.PatchUltraVBert, s.longest
			r.Interpolation, r.Backend = b.kernel()
			b.Add(r)
		case s.longest > 0:
			r := &transforms.Resize{Fit: transforms.FitLongest, Edge: s.longest, MaxEdge: idefics3Longest, SizeRule: transforms.SizeEven}
			r.Interpolation, r.Backend = b.kernel()
			b.Add(r)
		case s.height > 0:
			b.resizeTo(s)
		default:
			o.Bad("size", "longest_edge, or height and width")
			return
		}
	}
	if split {
		r := transforms.NewResizeToTiles(side, side, 0, 0)
		r.Rule = transforms.TilesMultiple
		r.Interpolation, r.Backend = b.kernel()
		b.Then(r, []string{datagraph.Image}, []string{datagraph.Image, unused, unused + "_choice", unused + "_size"})
		b.thumbnails(o, side, side, nil) // of the canvas
		b.planes(o)
		b.Add(transforms.NewSplitTiles(side, side))
		b.joins(false, false)
	} else {
		b.resizeTo(square(side))
		b.planes(o)
		b.wholeTile()
	}
	if b.pad {
		if !b.float && b.torch { // which pads a float32 tensor
			b.Add(transforms.NewToType(tensor.Float32))
		}
		b.output("pixel_attention_mask", &transforms.TileMask{Pixels: true, DType: tensor.Int64}, datagraph.Image)
	}
}
