package hf

import (
	"encoding/json"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	classes["Qwen2VL"] = class{
		defaults: settings{ownSize: true, convertRGB: true, resize: true, rescale: true, normalize: true, notSquare: true, resample: transforms.Bicubic, mean: clipMean, std: clipStd},
		build:    func(b *builder, o *importer.Object) { qwen2VL(b, o, 28*28*1280) },
	}
	classes["CohereCompass"] = classes["Qwen2VL"]
	classes["MiniMaxM3VL"] = class{
		defaults:  classes["Qwen2VL"].defaults,
		torchOnly: true,
		build:     func(b *builder, o *importer.Object) { qwen2VL(b, o, 672*672) },
	}
}

// qwen2VL adds a smart resize and cuts the image into patches, in squares of
// merge_size x merge_size. The output pixel_values is float32 (patches, 3 ·
// temporal_patch_size · patch_size²). Every frame is the image. The output
// image_grid_thw is int64 (3): 1 and the numbers of rows and columns of
// patches. Files of Qwen2.5-VL, Qwen3-VL and others name this class too. most
// is the default of the largest area.
func qwen2VL(b *builder, o *importer.Object, most int64) {
	noOCR(o)
	least, most := pixelBounds(b, o, most)
	patch, merge := o.Side("patch_size", 14), o.Side("merge_size", 2)
	temporal := o.Side("temporal_patch_size", 2)
	b.wantsResample(o)
	if patch > importer.MaxSide/merge {
		o.Bad("patch_size", "a patch size that times merge_size is at most 16777216")
		return
	}

	b.decode()
	if b.resize {
		r := transforms.NewSmartResize(patch*merge, least, most)
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.values(o, 0)
	if !b.float && !b.torch { // PIL's backend returns float32 in any case
		b.Add(transforms.NewToType(tensor.Float32))
	}
	b.Add(transforms.NewHWC2CHW())
	p := &transforms.Patchify{Patch: patch, Temporal: temporal, Merge: merge, Layout: tensor.CHW}
	b.Then(p, []string{datagraph.Image}, []string{datagraph.Image, "image_grid_thw"})
	b.Outputs = append(b.Outputs, "image_grid_thw")
}

// pixelBounds reads the smallest and the largest area in pixels. They are
// size's shortest_edge and longest_edge, by default 56² and largest, which hold
// areas despite their names. The keys of older files, min_pixels and
// max_pixels, take precedence. Those files repeat them in size: there they are
// ignored beside the outer keys, and an error without them.
func pixelBounds(b *builder, o *importer.Object, largest int64) (least, most int64) {
	least, most = 56*56, largest
	const want = "shortest_edge and longest_edge, the least and the largest area in pixels, of 1 to 2^48"
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
	if _, ok := v.(*importer.Object); !ok {
		if b.resize || given[0] || given[1] {
			o.Bad("size", want)
		} else {
			readSize(o, "size", new(size), !b.notSquare, false)
		}
		return 1, 1
	}
	d := o.Object("size")
	for i, key := range []string{"shortest_edge", "longest_edge"} {
		p := []*int64{&least, &most}[i]
		in, _ := d.Get(key)
		if given[i] {
			d.Inert(outer[i])
			continue
		}
		if d.Has(outer[i]) {
			d.Bad(outer[i], key+": without "+outer[i]+" outside of size transformers finds no bound in it")
			return 1, 1
		}
		area, ok := pixels(in)
		if *p = area; !ok {
			d.Bad(key, "an area in pixels, of 1 to 2^48")
			return 1, 1
		}
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
