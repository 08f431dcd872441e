package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Mllama"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, size: square(224),
				resample: transforms.Bilinear, mean: halves, std: halves,
			},
			build: mllama,
		}
		classes["Llama4"] = class{
			batch: tilesJoined,
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(336),
				resample: transforms.Bilinear, mean: halves, std: halves,
			},
			torchOnly: true,
			build:     llama4,
		}
	})
}

// squareTiles reads the number of tiles and requires a square size. It returns
// the op that scales to the canvas.
func (b *builder) squareTiles(o *importer.Object, key string, def int, rule transforms.TileRule) *transforms.ResizeToTiles {
	if !b.resize {
		o.Bad("do_resize", "true")
	}
	if b.size.height == 0 || b.size.height != b.size.width {
		o.Bad("size", "equal height and width")
		return nil
	}
	r := transforms.NewResizeToTiles(b.size.height, b.size.width, 1, o.Int(key, def, 1, maxTiles))
	r.Rule, r.Fit = rule, transforms.TileFloorSmall
	return r
}

// mllama adds the steps of Llama 3.2 Vision. pixel_values is float32
// (max_image_tiles, channels, height, width): tiles of zeros are added. The
// outputs aspect_ratio_ids and num_tiles are int64 scalars; aspect_ratio_mask,
// int64 (max_image_tiles), marks the tiles of the image. The axis that counts
// the images of a sample is left out.
func mllama(b *builder, o *importer.Object) {
	noOCR(o)
	r := b.squareTiles(o, "max_image_tiles", 4, transforms.TilesCanvas)
	if !b.pad {
		o.Bad("do_pad", "true")
	}
	if r == nil {
		return
	}
	b.decode()
	b.tiles(o, r, unused, "aspect_ratio_ids", nil)
	if !b.float {
		b.Add(transforms.NewToType(tensor.Float32))
	}
	b.Then(transforms.NewRowCount(), []string{datagraph.Image}, []string{"num_tiles"})
	b.Then(transforms.NewPadSequence(r.MaxTiles), []string{datagraph.Image}, []string{datagraph.Image, "mask"})
	b.Outputs = append(b.Outputs, "aspect_ratio_ids")
	b.output("aspect_ratio_mask", transforms.NewToType(tensor.Int64), "mask")
	b.Outputs = append(b.Outputs, "num_tiles")
}

// llama4 adds the steps of Llama 4. The last of several tiles is the whole
// image. pixel_values is bfloat16 if do_rescale and do_normalize are set. The
// output aspect_ratios is int64 (2), the rows and columns of tiles.
func llama4(b *builder, o *importer.Object) {
	noOCR(o)
	r := b.squareTiles(o, "max_patches", 16, transforms.TilesCanvas32)
	if r == nil {
		return
	}
	if o.Bool("resize_to_max_canvas", false) {
		r.Rule, r.Fit = transforms.TilesLargest32, transforms.TileFloor
	}
	if b.normalize && !b.rescale {
		o.Bad("do_rescale", "true, for do_normalize: torchvision normalizes floats only")
		return
	}
	b.half = b.normalize
	b.decode()
	b.thumbnails(o, r.Height, r.Width, nil)
	b.tiles(o, r, "aspect_ratios", unused, nil)
	b.joins(false, false)
	b.Outputs = append(b.Outputs, "aspect_ratios")
}

// halfValues adds the rescaling and the normalization in bfloat16: float32
// steps with a rounding after each.
func (b *builder) halfValues() {
	round := func(add ...transforms.Op) {
		for _, op := range add {
			b.Add(op)
		}
		b.Add(transforms.NewToType(tensor.BFloat16))
	}
	values := func(l []float64) []float64 {
		r := make([]float64, len(l))
		for i, v := range l {
			r[i] = float64(tensor.BFloat16ToFloat32(tensor.BFloat16FromFloat32(float32(v))))
		}
		return r
	}
	float := transforms.NewToType(tensor.Float32)
	round(&transforms.Rescale{Scale: b.factor, Rule: transforms.RescaleMultiply})
	round(float, transforms.NewNormalize(values(b.mean), []float64{1, 1, 1}))
	round(float, transforms.NewNormalize([]float64{0, 0, 0}, values(b.std)))
	b.float = true
}
