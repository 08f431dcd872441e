package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["VitPose"] = class{
			defaults: settings{rescale: true, normalize: true, size: size{height: 256, width: 192}, resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd, ownResample: true},
			build:    vitPose,
		}
	})
}

// vitPose cuts the box of a person out of the image. The box is a second input,
// box, float64 (4): left, top, width and height in pixels. The graph runs once
// for each person, whose pixel_values have no batch axis. Without
// do_affine_transform the graph has no box, and the whole image keeps its size.
// The class never resizes, crops or pads.
func vitPose(b *builder, o *importer.Object) {
	noOCR(o)
	b.wantsNoResize(o)
	factor := 200.0
	if v, ok := o.Get("normalize_factor"); ok {
		if factor, ok = importer.Float(v); !ok || factor <= 0 {
			o.Bad("normalize_factor", "a number above 0")
			return
		}
	}
	warps := o.Bool("do_affine_transform", true)
	b.decode()
	if warps {
		if b.size.height < 2 || b.size.width < 2 {
			o.Bad("size", "height and width of at least 2")
			return
		}
		const box = "box"
		b.Inputs = append(b.Inputs, datagraph.Column{Name: box, Desc: tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(4)}})
		w := transforms.NewWarpBox(b.size.height, b.size.width)
		w.Factor = factor
		b.Then(w, []string{datagraph.Image, box}, []string{datagraph.Image})
	}
	b.centerCrop = false
	b.tail(o)
}
