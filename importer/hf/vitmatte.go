package hf

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["VitMatte"] = class{
			defaults: settings{rescale: true, normalize: true, pad: true, resample: transforms.Bilinear, mean: halves, std: halves},
			build:    vitMatte,
		}
	})
}

// trimap names the input that marks foreground, background and the region
// between them.
const trimap = "trimap"

// vitMatte normalises the image and appends the rescaled trimap as a fourth
// channel. The trimap is a second input, an encoded image of the same size that
// is decoded to gray, as Image.open(f).convert("L"). The class never resizes or
// crops.
func vitMatte(b *builder, o *importer.Object) {
	noOCR(o)
	b.wantsNoResize(o)
	divisor := 32
	for _, key := range []string{"size_divisibility", "size_divisor"} { // the old name first
		if v, ok := o.Get(key); ok && (v != nil || key == "size_divisor") {
			if divisor, ok = importer.Int(v, 1, importer.MaxSide); !ok && (v != nil || b.pad) {
				o.Bad(key, "a whole number of 1 to 16777216")
				return
			}
		}
	}
	b.Inputs = append(b.Inputs, datagraph.Column{Name: trimap, Desc: tensor.Encoded()})
	b.decode()
	b.values(o, 0)
	b.branch(trimap, trimap, func(c *builder) {
		d := transforms.NewDecode()
		d.Color = codec.ToGray
		c.Add(d)
		c.float, c.normalize = false, false
		c.values(o, 0)
		if b.float && !c.float {
			c.Add(transforms.NewToType(tensor.Float32))
		}
	})
	b.Then(transforms.NewConcatChannels(), []string{datagraph.Image, trimap}, []string{datagraph.Image})
	b.Add(transforms.NewHWC2CHW())
	if b.pad {
		p := transforms.NewPadToMultiple(divisor)
		p.Position = transforms.TopLeft
		b.Add(p)
	}
}
