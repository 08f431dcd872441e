package hf

import (
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// thumbnail names the column of the small image beside the tiles.
const thumbnail = "thumbnail"

// unused names columns that nothing reads.
const unused = "unused"

// maxTiles bounds the number of tiles that a configuration may ask for.
const maxTiles = 1024

// The image processors of this file cut an image into tiles. Their output
// pixel_values is (tiles, channels, height, width), also for one tile.
func init() {
	define(func(classes map[string]class) {
		for name, d := range map[string]gridClass{
			"GotOcr2":       {rule: transforms.TilesAspect},
			"Cohere2Vision": {rule: transforms.TilesScale, split: true},
			"Ovis2":         {rule: transforms.TilesCover, first: true},
		} {
			size := 384
			if name == "Cohere2Vision" {
				size = 512
			}
			classes[name] = class{
				defaults: settings{
					convertRGB: true, resize: true, rescale: true, normalize: true, size: square(size),
					resample: transforms.Bicubic, mean: clipMean, std: clipStd,
				},
				torchOnly: name == "Cohere2Vision",
				batch:     tilesJoined,
				build:     d.build,
			}
		}
		classes["GraniteDocling"] = class{
			batch: tilesPadded,
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(512),
				resample: transforms.Bicubic, mean: clipMean, std: clipStd,
			},
			build: graniteDocling,
		}
	})
}

// alwaysResizes checks resample for a class that resizes even without
// do_resize. There null means bilinear.
func (b *builder) alwaysResizes(o *importer.Object) {
	if o.Null("resample") {
		b.resample = transforms.Bilinear
	}
	if b.torch && (b.resample == transforms.Box || b.resample == transforms.Hamming) {
		o.Bad("resample", "0 to 3: torchvision's tensors have neither box nor hamming; the PIL backend has")
	}
}

// planes adds the steps of the values, and puts the channels first.
func (b *builder) planes(o *importer.Object) {
	b.values(o, 0)
	b.Add(transforms.NewHWC2CHW())
}

// wholeTile makes the image the only tile.
func (b *builder) wholeTile() { b.Add(transforms.NewSplitTiles(0, 0)) }

// thumbnails adds the column thumbnail: the image at this size. A tile that is
// changed by itself goes through each too.
func (b *builder) thumbnails(o *importer.Object, height, width int, each func(*builder)) {
	r := &transforms.Resize{Height: height, Width: width}
	r.Interpolation, r.Backend = b.kernel()
	b.Then(r, []string{datagraph.Image}, []string{thumbnail})
	b.branch(thumbnail, thumbnail, func(c *builder) {
		if each != nil {
			each(c)
		}
		c.planes(o)
	})
}

// tiles scales the image to the canvas of r and cuts it. grid and choice name
// columns of r. Every tile goes through each, unless it is nil.
func (b *builder) tiles(o *importer.Object, r *transforms.ResizeToTiles, grid, choice string, each func(*builder)) {
	r.Interpolation, r.Backend = b.kernel()
	b.Then(r, []string{datagraph.Image}, []string{datagraph.Image, grid, choice, unused + "_size"})
	if each != nil {
		b.mapTiles(o, transforms.NewMapTiles(r.Height, r.Width), each)
		return
	}
	b.planes(o)
	b.Add(transforms.NewSplitTiles(r.Height, r.Width))
}

// tileMask and tileCount name the columns beside the tiles of mapTiles.
const (
	tileMask  = "tile_mask"
	tileCount = "tile_count"
)

// mapTiles cuts the image by m. Every tile goes through each and the steps of
// the values.
func (b *builder) mapTiles(o *importer.Object, m *transforms.MapTiles, each func(*builder)) {
	c := &builder{Graph: datagraph.New(), settings: b.settings, float: b.float}
	each(c)
	c.planes(o)
	for _, s := range c.Steps {
		m.Ops = append(m.Ops, s.Op)
	}
	b.float = c.float
	b.Then(m, []string{datagraph.Image}, []string{datagraph.Image, tileMask, tileCount})
}

// joins adds the thumbnail before or behind the tiles. With single, a single
// tile has a thumbnail too.
func (b *builder) joins(first, single bool) {
	in, c := []string{datagraph.Image, thumbnail}, transforms.NewConcatRows()
	if !single {
		c.Omit = transforms.OmitSecond
	}
	if first {
		slices.Reverse(in)
		if !single {
			c.Omit = transforms.OmitFirst
		}
	}
	b.Then(c, in, []string{datagraph.Image})
}

// output adds a step that reads a column and whose output is one of the graph.
//
//go:noinline
func (b *builder) output(name string, op transforms.Op, column string) {
	b.Then(op, []string{column}, []string{name})
	b.Outputs = append(b.Outputs, name)
}

// gridClass describes the classes that choose a grid of min_patches to
// max_patches tiles.
type gridClass struct {
	rule  transforms.TileRule
	split bool // default of crop_to_patches
	first bool // the thumbnail is the first tile
}

// build adds the steps of GOT-OCR2 and others. The output num_patches is an
// int64 scalar, the number of tiles. Ovis2 has grids instead, int64 (2), the
// rows and columns. InternVL uses GOT-OCR2's class.
func (d gridClass) build(b *builder, o *importer.Object) {
	noOCR(o)
	split := o.Bool("crop_to_patches", d.split)
	least, most := o.Int("min_patches", 1, 0, maxTiles), o.Int("max_patches", 12, 0, maxTiles)
	ovis, rule := d.first, d.rule
	if ovis && !o.Bool("use_covering_area_grid", true) {
		rule = transforms.TilesAspect
	}
	if d.rule == transforms.TilesScale {
		o.Inert("patch_size")
	}
	if !ovis {
		b.centerCrop = false
	}
	if (ovis || !b.torch) && most <= 1 {
		split = false
	}
	s := b.size
	if split && s.height == 0 {
		o.Bad("size", "height and width, for crop_to_patches")
		return
	}
	if split && rule == transforms.TilesScale && most == 0 {
		o.Bad("max_patches", "a whole number of 1 to 1024")
		return
	}
	if split {
		b.alwaysResizes(o)
	}
	b.decode()
	if !split {
		if ovis {
			// A grid of one tile, of any size.
			b.Then(transforms.NewResizeToTiles(1, 1, 1, 1), []string{datagraph.Image}, []string{unused, "grids", unused + "_choice", unused + "_size"})
			b.Outputs = append(b.Outputs, "grids")
		}
		if b.resize {
			b.resizeTo(s)
		}
		b.crops(o)
		b.planes(o)
		b.wholeTile()
		if !ovis {
			b.output("num_patches", transforms.NewRowCount(), datagraph.Image)
		}
		return
	}
	r := transforms.NewResizeToTiles(s.height, s.width, least, most)
	r.Rule = rule
	switch {
	case rule != transforms.TilesAspect:
		r.MinTiles = 1
	case least > most || most == 0: // no grid is left, so that one tile is
		r.MinTiles, r.MaxTiles = 1, 1
	default:
		r.MinTiles = max(least, 1)
	}
	var crop func(*builder)
	if b.centerCrop && b.crop != s {
		crop = func(c *builder) { c.crops(o) }
	}
	b.thumbnails(o, s.height, s.width, crop)
	b.tiles(o, r, "grids", unused, crop)
	b.joins(d.first, false)
	if ovis {
		b.Outputs = append(b.Outputs, "grids")
	} else {
		b.output("num_patches", transforms.NewRowCount(), datagraph.Image)
	}
}

// graniteDocling adds the steps of Granite Docling, which cuts pages into at
// most 16 rows and columns. The outputs are pixel_attention_mask, bool (tiles),
// rows and cols, int64 (1), and with fine_route tile_fine_mask, a bool scalar.
func graniteDocling(b *builder, o *importer.Object) {
	noOCR(o)
	least, most := o.Int("min_patches", 1, 0, maxTiles), o.Int("max_patches", 32, 0, maxTiles)
	if !o.Bool("crop_to_patches", true) || most <= 1 {
		least, most = 1, 1
	}
	if least > most {
		o.Bad("min_patches", "at most max_patches")
		return
	}
	dense := o.Int("dense_max_patches", 0, 0, maxTiles)
	limits := map[string]float64{"dense_max_scale": 0, "dense_min_aspect": 0, "dense_max_aspect": 0}
	for key := range limits {
		if v, ok := o.Get(key); ok {
			if limits[key], ok = importer.Float(v); !ok {
				o.Bad(key, "a number")
			}
		}
	}
	if dense > 0 && most > 1 && (limits["dense_max_scale"] > 0 || limits["dense_min_aspect"] > 0) {
		o.Bad("dense_max_patches", "0: another bound for dense pages is not supported")
		return
	}
	if b.size.height == 0 {
		o.Bad("size", "height and width")
		return
	}
	fine := o.Bool("fine_route", false)
	b.alwaysResizes(o)
	b.decode()
	s := b.size
	b.thumbnails(o, s.height, s.width, nil)
	r := transforms.NewResizeToTiles(s.height, s.width, max(least, 1), most)
	r.MaxLine = 16
	b.tiles(o, r, "grid", unused, nil)
	b.joins(false, false)
	if !b.float && !b.torch { // PIL's backend returns float32 in any case
		b.Add(transforms.NewToType(tensor.Float32))
	}
	b.output("pixel_attention_mask", &transforms.TileMask{DType: tensor.Bool}, datagraph.Image)
	if fine {
		b.output("tile_fine_mask", &transforms.Constant{Value: 1, DType: tensor.Bool}, datagraph.Image)
	}
	b.output("rows", transforms.NewTakeRows(0, 1), "grid")
	b.output("cols", transforms.NewTakeRows(1, 1), "grid")
}
