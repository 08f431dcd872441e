package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Sam"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true,
				size: size{longest: 1024}, padSize: square(1024), resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd,
				anySize: true,
			},
			build: sam,
		}
		sam2 := settings{convertRGB: true, resize: true, rescale: true, normalize: true, size: square(1024), resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd}
		sam3 := sam2
		sam3.size, sam3.mean, sam3.std = square(1008), halves, halves
		for name, s := range map[string]settings{"Sam2": sam2, "Sam3": sam3} {
			classes[name] = class{defaults: s, torchOnly: true, build: sam2Steps}
		}
	})
}

// sam2Steps adds the steps of the backend without segmentation maps. The side
// output original_sizes, int64 (2), is the image's height and width.
func sam2Steps(b *builder, o *importer.Object) {
	noOCR(o)
	readSize(o, "mask_size", new(size), true, true)
	o.Inert("mask_pad_size")
	b.decode()
	b.measures("original_sizes")
	b.resizes()
	b.tail(o)
	b.pads(o)
}

// sam adds the steps of SamImageProcessorPil without segmentation maps. Its
// side outputs, int64 (2), allow undoing the scaling. original_sizes is the
// image's height and width; reshaped_input_sizes is the scaled image's. SAM-HQ
// uses the same class.
func sam(b *builder, o *importer.Object) {
	noOCR(o)
	// These keys concern segmentation maps only, but transformers requires
	// valid sizes.
	for _, key := range []string{"mask_size", "mask_pad_size"} {
		var s size
		readSize(o, key, &s, true, true)
	}
	b.decode()
	b.measures("original_sizes")
	if b.resize {
		if b.size.longest == 0 { // SAM ignores a shortest_edge
			o.Bad("size", "longest_edge")
			return
		}
		r := &transforms.Resize{Fit: transforms.FitLongest, Edge: b.size.longest, SizeRule: transforms.SizeHalfUp}
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
	}
	if b.centerCrop { // the crop may change the size
		b.measures("reshaped_input_sizes")
		b.tail(o)
	} else {
		b.tail(o)
		b.measures("reshaped_input_sizes")
	}
	b.pads(o)
}

// measures adds the image's size as a side output.
func (b *builder) measures(name string) {
	b.Then(transforms.NewImageSize(), []string{b.Outputs[0]}, []string{name})
	b.SideOutputs = append(b.SideOutputs, name)
}
