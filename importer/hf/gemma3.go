package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Gemma3"] = class{
			batch: tilesJoined,
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(224),
				resample: transforms.Bilinear, mean: halves, std: halves,
			},
			build: gemma3,
		}
		classes["Idefics2"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, notSquare: true,
				size: size{shortest: 378, longest: 980}, resample: transforms.Bilinear, mean: halves, std: halves,
			},
			build: idefics2,
		}
		classes["Aria"] = class{
			batch: batchRules{output: datagraph.BatchConcat, "pixel_mask": datagraph.BatchConcat},
			defaults: settings{
				convertRGB: true, rescale: true, normalize: true, resample: transforms.Bicubic, mean: halves, std: halves,
			},
			build: aria,
		}
	})
}

// gemma3 adds the steps of Gemma 3. With do_pan_and_scan, a long image is cut
// along its longer side; the first tile is the whole image. The output
// num_crops, an int64 scalar, is the number of the other tiles. The class
// ignores the centre crop and pad_size.
func gemma3(b *builder, o *importer.Object) {
	noOCR(o)
	keys := []string{"pan_and_scan_min_crop_size", "pan_and_scan_max_num_crops", "pan_and_scan_min_ratio_to_activate"}
	if !o.Bool("do_pan_and_scan", false) {
		o.Inert(keys...)
		b.decode()
		b.resizes()
		b.planes(o)
		b.wholeTile()
		b.constant("num_crops", 0)
		return
	}
	m := transforms.NewMapTiles(0, 0)
	m.Cut, m.Whole = transforms.CutAspect, transforms.WholeFirst
	if m.MinSide = o.Side(keys[0], 0); m.MinSide == 0 {
		o.Bad(keys[0], "a whole number of 1 to 16777216, for do_pan_and_scan")
	}
	if m.MaxTiles = o.Int(keys[1], 0, 1, maxTiles); m.MaxTiles == 0 {
		o.Bad(keys[1], "a whole number of 1 to 1024, for do_pan_and_scan")
	}
	v, _ := o.Get(keys[2])
	var ok bool
	if m.MinAspect, ok = importer.Float(v); !ok || m.MinAspect < 0 || m.MinAspect > 1e6 {
		o.Bad(keys[2], "a number of 0 to 1000000, for do_pan_and_scan")
	}
	resize := b.resize || b.torch // torchvision's backend resizes the tiles in any case
	if resize {
		b.alwaysResizes(o)
		if b.size == (size{}) {
			o.Bad("size", "a size, for do_pan_and_scan")
			return
		}
	}
	m.Empty = !b.torch && resize && b.size.height > 0
	b.decode()
	b.mapTiles(o, m, func(c *builder) {
		if resize {
			c.resizeTo(c.size)
		}
	})
	b.output("num_crops", transforms.NewToType(tensor.Int64), tileCount)
}

// idefics2 adds the steps of Idefics2: the longer edge is reduced to
// longest_edge, and both are enlarged to shortest_edge. With
// do_image_splitting, the four quarters of the image and the image itself are
// resized so. With padding, all get the size of the largest, and the output
// pixel_attention_mask is int64 (tiles, height, width). The class ignores the
// centre crop and pad_size.
func idefics2(b *builder, o *importer.Object) {
	noOCR(o)
	s := b.size
	if b.resize && s.height == 0 && (s.shortest == 0 || s.longest == 0) {
		o.Bad("size", "shortest_edge and longest_edge, or height and width")
		return
	}
	resize := func(c *builder) {
		switch {
		case !c.resize:
		case s.height > 0:
			c.resizeTo(s)
		default:
			r := &transforms.Resize{
				Fit: transforms.FitLongestMin, Edge: s.longest, Height: s.shortest, Width: s.shortest, SizeRule: transforms.SizeCapped,
			}
			r.Interpolation, r.Backend = c.kernel()
			c.Add(r)
		}
	}
	const mask = "pixel_attention_mask"
	split := o.Bool("do_image_splitting", false)
	b.decode()
	if split {
		m := transforms.NewMapTiles(2, 2)
		m.Cut, m.Whole, m.Pad = transforms.CutGrid, transforms.WholeLast, b.pad
		m.Empty = !b.torch && b.resize && s.height > 0
		b.mapTiles(o, m, resize)
	} else {
		resize(b)
		b.planes(o)
		b.wholeTile()
	}
	if !b.pad {
		return
	}
	if !b.float && b.torch { // which pads a float32 tensor
		b.Add(transforms.NewToType(tensor.Float32))
	}
	b.padsBatch(b.Outputs[0], mask)
	if split {
		b.output(mask, transforms.NewToType(tensor.Int64), tileMask)
	} else {
		b.output(mask, &transforms.TileMask{Pixels: true, DType: tensor.Int64}, datagraph.Image)
	}
}

// aria adds the steps of Aria. Each tile is scaled to max_image_size and padded
// to a square of it with black. The outputs are pixel_mask, bool (tiles,
// height, width), and num_crops, an int64 scalar, the number of tiles. The
// class ignores do_resize, size, the centre crop and padding.
func aria(b *builder, o *importer.Object) {
	noOCR(o)
	most := o.Side("max_image_size", 980)
	if most != 490 && most != 980 {
		o.Bad("max_image_size", "490 or 980")
		return
	}
	least := o.Int("min_image_size", 336, 1, most)
	var sizes [][]int // the default
	for _, l := range [][2]int{
		{1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7}, {1, 8}, {2, 4}, {2, 3}, {2, 2}, {2, 1}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {5, 1}, {6, 1}, {7, 1}, {8, 1},
	} {
		sizes = append(sizes, []int{490 * l[0], 490 * l[1]})
	}
	if o.Null("split_resolutions") {
		o.Inert("split_resolutions")
	} else {
		sizes = pinpoints(o, "split_resolutions", sizes)
	}
	split := o.Bool("split_image", false)
	b.alwaysResizes(o)

	b.decode()
	m := transforms.NewMapTiles(0, 0)
	m.Cut = transforms.CutNone
	if split {
		r := transforms.NewResizeToTiles(most, most, 0, 0)
		r.Rule, r.Sizes, r.Fit, r.Position = transforms.TilesSize, sizes, transforms.TileCeil, transforms.Center
		r.Interpolation, r.Backend = b.kernel()
		b.Then(r, []string{datagraph.Image}, []string{datagraph.Image, unused, unused + "_choice", unused + "_size"})
		m.Cut, m.Height, m.Width = transforms.CutSize, most, most
	}
	m.Pad, m.PadHeight, m.PadWidth, m.MaskDType = true, most, most, tensor.Bool
	if b.normalize && b.mean != nil && b.std != nil {
		mean, std := b.mean, b.std
		if b.torch && b.rescale {
			mean, std = fused(mean, b.factor), fused(std, b.factor)
		}
		m.Fill = nil
		for i := range mean { // what becomes of black
			m.Fill = append(m.Fill, float64((0-float32(mean[i]))/float32(std[i])))
		}
	}
	b.mapTiles(o, m, func(c *builder) {
		r := &transforms.Resize{Fit: transforms.FitLongestMin, Edge: most, Height: least, Width: least, SizeRule: transforms.SizeScaleDown}
		r.Interpolation, r.Backend = c.kernel()
		c.Add(r)
	})
	b.output("pixel_mask", transforms.NewToType(tensor.Bool), tileMask)
	b.output("num_crops", transforms.NewToType(tensor.Int64), tileCount)
}
