package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// deepseekVLHybrid adds Janus's steps twice. The output high_res_pixel_values
// is the image in high_res_size, with settings of its own. The output
// pixel_values is made of the same image, before its values are rescaled, and
// scaled again to size.
func deepseekVLHybrid(b *builder, o *importer.Object) {
	const name = "high_res_pixel_values"
	noOCR(o)
	high := b.settings
	high.size, high.mean, high.std, high.resample = square(1024), clipMean, clipStd, transforms.Bicubic
	readSize(o, "high_res_size", &high.size, !b.notSquare, false)
	high.mean, high.std = b.readValues(o, "high_res_image_mean", high.mean), b.readValues(o, "high_res_image_std", high.std)
	if o.Null("high_res_resample") {
		o.Inert("high_res_resample")
		if high.resample = transforms.Bilinear; !b.torch {
			high.resample = b.resample
		}
	} else {
		high.readResample(o, "high_res_resample")
	}
	// The PIL backend takes 0, the number of nearest, for no value.
	if !b.torch && high.resample == transforms.Nearest {
		high.resample = b.resample
	}
	for _, key := range []string{"image_mean", "high_res_image_mean"} {
		if v, _ := o.Get(key); v != nil {
			if _, ok := importer.Floats(v, 3); !ok { // read as a list even without do_pad
				o.Bad(key, "three numbers")
				return
			}
		}
	}
	if b.normalize && high.mean == nil {
		o.Bad("high_res_image_mean", "three numbers, for do_normalize")
	}
	if b.normalize && high.std == nil {
		o.Bad("high_res_image_std", "one or three numbers, for do_normalize")
	}
	if b.torch && !b.pad {
		o.Bad("do_pad", "true: without padding transformers' torchvision backend fails")
	}
	if b.torch && !b.resize {
		o.Bad("do_resize", "true: without resizing transformers' torchvision backend fails")
	}
	least, ok := minSize(b, o)
	if !ok {
		return
	}
	gray := []float64{127}

	b.decode()
	low := b.settings
	b.settings = high
	if b.resize && !b.longestMin(o, "high_res_size", high.size, least) {
		return
	}
	if b.pad && b.resize {
		b.padsToSquare(o, "high_res_image_mean", high.mean, gray)
	}
	b.branch(datagraph.Image, name, func(c *builder) {
		c.centerCrop = false
		c.tail(o)
	})
	b.settings = low
	if b.resize && !b.longestMin(o, "size", b.size, least) {
		return
	}
	if b.pad && b.resize {
		b.padsToSquare(o, "image_mean", b.mean, gray)
	}
	b.centerCrop = false
	b.tail(o)
	b.Outputs = append(b.Outputs, name)
}
