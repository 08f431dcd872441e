package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["ImageGPT"] = class{
			defaults: settings{resize: true, rescale: true, normalize: true, size: square(256), resample: transforms.Bilinear, mean: halves, std: halves},
			build:    imageGPT,
		}
	})
}

// imageGPT replaces the pixels by the numbers of the nearest clusters. The
// output is then input_ids, int64 (pixels). Without do_color_quantize it is
// pixel_values. The PIL backend ignores the centre crop. No class of the
// reference has clusters of its own; checkpoints have 512.
func imageGPT(b *builder, o *importer.Object) {
	noOCR(o)
	b.centerCrop = b.centerCrop && b.torch
	colors, ok := clusters(o)
	if !ok {
		return
	}
	b.decode()
	b.resizes()
	b.tail(o)
	if !o.Bool("do_color_quantize", true) {
		return
	}
	switch {
	case colors == nil:
		o.Bad("clusters", "colours, for do_color_quantize")
		return
	case !b.float:
		o.Bad("do_color_quantize", "false without do_rescale and do_normalize: the distances of bytes overflow")
		return
	}
	p := transforms.NewNearestColor(colors)
	if !b.torch {
		p.DType = tensor.Float64
	}
	b.Add(p)
	b.Rename("input_ids")
}

// clusters reads the colours, nil if absent or null.
func clusters(o *importer.Object) (colors []float64, ok bool) {
	const want = "a list of 16 to 65536 colours of three numbers"
	v, _ := o.Get("clusters")
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	if !ok || len(list) < 16 || len(list) > 1<<16 {
		o.Bad("clusters", want)
		return nil, false
	}
	for _, e := range list {
		c, ok := importer.Floats(e, 3)
		if !ok {
			o.Bad("clusters", want)
			return nil, false
		}
		colors = append(colors, c...)
	}
	return colors, true
}
