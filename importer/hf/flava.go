package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Flava"] = class{
			defaults: settings{resize: true, centerCrop: true, rescale: true, normalize: true, size: square(224), crop: square(224), resample: transforms.Bicubic, mean: clipMean, std: clipStd},
			build:    flava,
		}
	})
}

// flava adds the steps of CLIP's images, and with return_codebook_pixels a
// second output, codebook_pixel_values, with settings of its own. The random
// mask of return_image_mask is outside the graph.
func flava(b *builder, o *importer.Object) {
	noOCR(o)
	if o.Bool("return_image_mask", false) {
		o.Bad("return_image_mask", "false: the random mask is outside of the graph")
	}
	o.Inert("input_size_patches", "total_mask_patches", "mask_group_min_patches", "mask_group_max_patches",
		"mask_group_min_aspect_ratio", "mask_group_max_aspect_ratio")
	codebook := b.codebook(o)
	mapped := o.Bool("codebook_do_map_pixels", true)
	const name = "codebook_pixel_values"

	b.decode()
	if asked := o.Bool("return_codebook_pixels", false); asked {
		if mapped && !b.torch && !codebook.rescale && !codebook.normalize {
			o.Bad("codebook_do_map_pixels", "false without codebook_do_rescale and codebook_do_normalize: transformers returns float64")
			return
		}
		b.branch(datagraph.Image, name, func(c *builder) {
			c.settings = codebook
			if c.resize {
				c.resizeTo(c.size)
			}
			c.crops(o)
			c.values(o, 0)
			if mapped { // DALL-E's logit-Laplace mapping
				c.Add(&transforms.Rescale{Scale: 0.8, Offset: 0.1, Rule: transforms.RescaleMultiply})
			}
			c.Add(transforms.NewHWC2CHW())
		})
		b.Outputs = append(b.Outputs, name)
	}
	b.resizes()
	b.tail(o)
}

// codebook reads the keys that begin with codebook_.
func (b *builder) codebook(o *importer.Object) settings {
	s := settings{
		torch: b.torch, resize: true, centerCrop: true, rescale: true, normalize: true, size: square(112), crop: square(112),
		resample: transforms.Lanczos, factor: 1.0 / 255, mean: []float64{0, 0, 0}, std: []float64{1, 1, 1},
	}
	for key, p := range map[string]*bool{
		"codebook_do_resize": &s.resize, "codebook_do_center_crop": &s.centerCrop,
		"codebook_do_rescale": &s.rescale, "codebook_do_normalize": &s.normalize,
	} {
		*p = o.Bool(key, *p)
	}
	readSize(o, "codebook_size", &s.size, !b.notSquare, false)
	readSize(o, "codebook_crop_size", &s.crop, true, false)
	s.mean, s.std = s.readValues(o, "codebook_image_mean", s.mean), s.readValues(o, "codebook_image_std", s.std)
	s.readFactor(o, "codebook_rescale_factor")
	if o.Null("codebook_resample") { // unlike resample's null
		o.Inert("codebook_resample")
		s.resample = transforms.Bilinear
	} else {
		s.readResample(o, "codebook_resample")
	}
	if s.resize && s.size == (size{}) {
		o.Bad("codebook_size", "a size, for codebook_do_resize")
	}
	s.wantsValues(o, "codebook_")
	return s
}
