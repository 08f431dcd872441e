package hf

import (
	"encoding/json"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// dynamic holds the differences of the classes that scale an image to an area
// and cut it into patches, as Qwen2-VL's does. The zero fields are Qwen2-VL's.
type dynamic struct {
	least, most            int64 // default area
	patch, temporal, merge int   // defaults
	rule                   transforms.SmartRule
	// newBounds reports that the class ignores min_pixels and max_pixels, the
	// keys of older files.
	newBounds bool
	// expand names a key whose value multiplies the factor of the resize.
	expand string
	// torchExpand reports that only the torchvision backend has the key.
	torchExpand bool
	mergeSizes  bool // an output has merge_size

	layout                      tensor.Layout // of a patch; NoLayout is CHW
	framesFirst, raster, planes bool          // fields of transforms.Patchify
}

// Files of Qwen2.5-VL, Qwen3-VL and others name Qwen2VL too.
func init() {
	define(func(classes map[string]class) {
		normal := settings{ownSize: true, convertRGB: true, resize: true, rescale: true, normalize: true, notSquare: true, resample: transforms.Bicubic, mean: clipMean, std: clipStd}
		standard, bicubic := normal, normal
		standard.mean, standard.std = halves, halves
		bicubic.ownResample = true
		qwen := dynamic{least: 56 * 56, most: 28 * 28 * 1280, patch: 14, temporal: 2, merge: 2}
		for name, c := range map[string]struct {
			settings
			change    func(d *dynamic)
			torchOnly bool
		}{
			"Qwen2VL":       {settings: normal},
			"CohereCompass": {settings: normal},
			"MiniMaxM3VL":   {normal, func(d *dynamic) { d.most = 672 * 672 }, true},
			"GlmImage":      {settings: normal, change: func(d *dynamic) { d.rule = transforms.SmartGLMImage }},
			"PaddleOCRVL": {settings: normal, change: func(d *dynamic) {
				d.least, d.most, d.temporal, d.rule, d.planes, d.raster = 384*384, 1536*1536, 1, transforms.SmartPaddleOCRVL, true, true
			}},
			"Glm4v":  {settings: normal, change: glm4v},
			"Glm46V": {settings: normal, change: glm4v},
			"Glmga": {settings: normal, change: func(d *dynamic) {
				glm4v(d)
				d.expand, d.torchExpand = "patch_expand_factor", true
			}},
			"Cosmos3Edge": {settings: standard, change: func(d *dynamic) {
				glm4v(d)
				d.least, d.most, d.patch, d.temporal, d.layout = 256*256, 4096*4096, 16, 1, tensor.HWC
			}},
			"HunYuanVL": {settings: bicubic, change: func(d *dynamic) {
				d.least, d.most, d.patch, d.temporal, d.raster = 512*512, 2048*2048, 16, 1, true
			}},
			"Ernie4_5_VLMoe":  {settings: normal, change: ernie},
			"Ernie4_5_VL_Moe": {settings: normal, change: ernie},
			"VideoLlama3": {settings: standard, change: func(d *dynamic) {
				d.temporal, d.merge, d.mergeSizes = 1, 1, true
			}},
		} {
			d := qwen
			if c.change != nil {
				c.change(&d)
			}
			classes[name] = class{defaults: c.settings, torchOnly: c.torchOnly, build: d.build}
		}
	})
}

func glm4v(d *dynamic) {
	d.least, d.most, d.rule, d.newBounds = 112*112, 28*28*15000, transforms.SmartGLM4V, true
}

func ernie(d *dynamic) { d.most, d.temporal, d.newBounds = 28*28*6177, 1, true }

// build adds a smart resize and cuts the image into patches, in squares of
// merge_size x merge_size. The output pixel_values is (patches, 3 ·
// temporal_patch_size · patch_size²). Every frame is the image. The output
// image_grid_thw is int64 (3): 1 and the numbers of rows and columns of
// patches.
func (d dynamic) build(b *builder, o *importer.Object) {
	noOCR(o)
	least, most := d.bounds(b, o)
	patch, merge := o.Side("patch_size", d.patch), o.Side("merge_size", d.merge)
	temporal := o.Side("temporal_patch_size", d.temporal)
	expand := 1
	if d.expand != "" {
		if n := o.Side(d.expand, 1); b.torch || !d.torchExpand {
			expand = n
		}
	}
	b.wantsResample(o)
	const most24 = importer.MaxSide
	if patch > most24/merge || patch*merge > most24/expand {
		o.Bad("patch_size", "a patch size that times merge_size is at most 16777216")
		return
	}

	b.decode()
	if b.resize {
		r := transforms.NewSmartResize(patch*merge*expand, least, most)
		r.Interpolation, r.Backend = b.kernel()
		if r.Rule = d.rule; d.rule == transforms.SmartGLM4V {
			const frames = 32 // the most that SmartResize takes
			if r.Frames = temporal; temporal > frames {
				o.Bad("temporal_patch_size", "a whole number of 1 to 32")
				return
			}
		}
		b.Add(r)
	}
	p := &transforms.Patchify{
		Patch: patch, Temporal: temporal, Merge: merge, Layout: tensor.CHW, FramesFirst: d.framesFirst, Raster: d.raster, Planes: d.planes,
	}
	if d.layout == tensor.HWC {
		p.Layout = tensor.HWC
	}
	if d.planes { // the class needs no squares of patches
		p.Merge = 1
	}
	b.patches(o, p)
	if d.mergeSizes {
		b.constant("image_merge_sizes", merge)
	}
}

// patches adds the steps of the values, and cuts the image into patches. The
// grid is the output image_grid_thw, or image_grid_hw without frames. A batch
// has the patches of all images one after the other.
func (b *builder) patches(o *importer.Object, p *transforms.Patchify) {
	b.values(o, 0)
	if !b.float && !b.torch { // PIL's backend returns float32 in any case
		b.Add(transforms.NewToType(tensor.Float32))
	}
	if p.Layout == tensor.CHW {
		b.Add(transforms.NewHWC2CHW())
	}
	grid := "image_grid_thw"
	if p.Temporal == 0 {
		grid = "image_grid_hw"
	}
	b.Then(p, []string{datagraph.Image}, []string{datagraph.Image, grid})
	b.Outputs = append(b.Outputs, grid)
	b.SetBatch(datagraph.Image, datagraph.Batching{Rule: datagraph.BatchConcat})
}

// constant adds an output that is the same number for every image.
func (b *builder) constant(name string, value int) {
	b.Then(transforms.NewConstant(float64(value)), []string{datagraph.Image}, []string{name})
	b.Outputs = append(b.Outputs, name)
}

// bounds reads the smallest and the largest area in pixels.
func (d dynamic) bounds(b *builder, o *importer.Object) (least, most int64) {
	if !d.newBounds {
		return pixelBounds(b, o, d.least, d.most)
	}
	o.Inert("min_pixels", "max_pixels")
	v, given := o.Get("size")
	switch {
	case !given:
		return d.least, d.most
	case !b.resize:
		readSize(o, "size", new(size), !b.notSquare, true)
		return 1, 1
	}
	if _, ok := v.(*importer.Object); !ok {
		o.Bad("size", areaWant)
		return 1, 1
	}
	s := o.Object("size")
	return area(s, "shortest_edge"), area(s, "longest_edge")
}

// areaWant names the only form of a size that is an area.
const areaWant = "shortest_edge and longest_edge, the least and the largest area in pixels, of 1 to 2^48"

// area reads a bound of a size.
func area(s *importer.Object, key string) int64 {
	v, _ := s.Get(key)
	n, ok := pixels(v)
	if !ok {
		s.Bad(key, "an area in pixels, of 1 to 2^48")
	}
	return n
}

// pixelBounds reads the smallest and the largest area in pixels, with their
// defaults. They are size's shortest_edge and longest_edge, which hold areas
// despite their names. The keys of older files, min_pixels and max_pixels, take
// precedence. Those files repeat them in size: there they are ignored beside
// the outer keys, and an error without them.
func pixelBounds(b *builder, o *importer.Object, least, most int64) (int64, int64) {
	outer := [2]string{"min_pixels", "max_pixels"}
	given := [2]bool{}
	for i, p := range []*int64{&least, &most} {
		if v, ok := o.Get(outer[i]); ok && v != nil {
			if *p, given[i] = pixels(v); !given[i] {
				o.Bad(outer[i], "a number of pixels, of 1 to 2^48")
				return 1, 1
			}
		}
	}
	v, _ := o.Get("size")
	if v == nil {
		return least, most
	}
	if !b.resize && !given[0] && !given[1] {
		readSize(o, "size", new(size), !b.notSquare, true)
		return 1, 1
	}
	if _, ok := v.(*importer.Object); !ok {
		o.Bad("size", areaWant)
		return 1, 1
	}
	d := o.Object("size")
	for i, key := range []string{"shortest_edge", "longest_edge"} {
		p := []*int64{&least, &most}[i]
		if given[i] {
			d.Inert(outer[i], key)
			continue
		}
		if d.Has(outer[i]) {
			d.Bad(outer[i], key+", or "+outer[i]+" outside of size: transformers does not read it here")
			return 1, 1
		}
		*p = area(d, key)
	}
	return least, most
}

// pixels reads v as an area in pixels.
func pixels(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 1, false
	}
	i, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil || i < 1 || i > importer.MaxSide*importer.MaxSide {
		return 1, false
	}
	return i, true
}
