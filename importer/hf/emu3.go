package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Emu3"] = class{
			batch:     batchRules{output: datagraph.BatchPad},
			defaults:  settings{ownSize: true, nullValues: true, convertRGB: true, resize: true, rescale: true, normalize: true, resample: transforms.Bicubic, mean: clipMean, std: clipStd},
			numpyOnly: true,
			build:     emu3,
		}
	})
}

// emu3 adds a smart resize to multiples of spatial_factor. The output
// image_sizes, int64 (2), is the height and width of pixel_values. The class
// ignores size and the centre crop.
func emu3(b *builder, o *importer.Object) {
	noOCR(o)
	b.wantsResample(o)
	readSize(o, "size", new(size), true, true)
	o.Inert("ratio", "image_area") // arguments of the processor, not of the image's
	factor := o.Side("spatial_factor", 8)
	least := pixelArea(o, "min_pixels", 512*512)
	most := pixelArea(o, "max_pixels", 1024*1024)
	b.decode()
	if b.resize {
		r := transforms.NewSmartResize(factor, least, most)
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	b.centerCrop = false
	b.tail(o)
	b.sizes()
}

// pixelArea reads an area in pixels.
func pixelArea(o *importer.Object, key string, def int64) int64 {
	v, ok := o.Get(key)
	if !ok {
		return def
	}
	n, ok := pixels(v)
	if !ok {
		o.Bad(key, "a number of pixels, of 1 to 2^48")
	}
	return n
}

// sizes adds the image's size as the output image_sizes.
func (b *builder) sizes() {
	const name = "image_sizes"
	b.Then(transforms.NewImageSize(), []string{b.Outputs[0]}, []string{name})
	b.Outputs = append(b.Outputs, name)
}
