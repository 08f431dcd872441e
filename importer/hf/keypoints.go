package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		defaults := settings{resize: true, rescale: true, notSquare: true, size: size{height: 480, width: 640}, resample: transforms.Bilinear}
		classes["SuperPoint"] = class{defaults: defaults, build: superPoint}
		for _, name := range []string{"EfficientLoFTR", "LightGlue", "SuperGlue"} {
			classes[name] = class{defaults: defaults, build: imagePair}
		}
	})
}

// second names the second image of a pair.
const second = "image2"

// superPoint resizes and rescales the image. With do_grayscale, its channels
// become their luma: before the resize with torchvision, at the end with PIL.
// The class ignores the crop, the normalization and the padding.
func superPoint(b *builder, o *importer.Object) {
	noOCR(o)
	gray := b.grayscale(o, false)
	b.decode()
	if gray && b.torch {
		b.Add(&transforms.Luma{Fused: true})
	}
	b.keypoints(o, gray && !b.torch)
}

// grayscale reads do_grayscale.
func (b *builder) grayscale(o *importer.Object, def bool) bool {
	gray := o.Bool("do_grayscale", def)
	if gray && !b.torch && !b.rescale {
		o.Bad("do_rescale", "true for do_grayscale: the PIL backend returns float64 without")
	}
	return gray
}

// keypoints adds the resize, the rescaling and, if asked for, the luma.
func (b *builder) keypoints(o *importer.Object, gray bool) {
	b.resizes()
	b.normalize = false
	b.values(o, 0)
	if gray {
		b.Add(&transforms.Luma{Fused: b.torch})
	}
	b.Add(transforms.NewHWC2CHW())
}

// imagePair adds the steps for two images, the inputs image and image2. The
// output pixel_values has the shape (2, 3, height, width). Without do_resize
// both images must have the same size.
func imagePair(b *builder, o *importer.Object) {
	noOCR(o)
	gray := b.grayscale(o, true)
	// Images of one size are tested for gray together if they are grouped.
	if v, ok := o.Get("disable_grouping"); ok && v == false && gray && b.torch {
		o.Bad("disable_grouping", "true or null, or leave it out: in a group, a gray image changes if the other one has colours")
	}
	b.Inputs = append(b.Inputs, datagraph.Column{Name: second, Desc: tensor.Encoded()})
	for _, name := range []string{datagraph.Image, second} {
		b.branch(name, name, func(c *builder) {
			c.decode()
			c.keypoints(o, gray)
		})
	}
	b.Then(transforms.NewConcatRows(), []string{datagraph.Image, second}, []string{datagraph.Image})
}
