package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	classes["Sam"] = class{
		defaults: settings{
			convertRGB: true, resize: true, rescale: true, normalize: true, pad: true,
			size: size{longest: 1024}, padSize: square(1024), resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd,
			anySize: true,
		},
		build: sam,
	}
}

// sam is SamImageProcessorPil without segmentation maps. Its side outputs
// original_sizes and reshaped_input_sizes, int64 (2), are the height and width
// of the image and of what the longest edge was scaled to, for undoing both.
// SAM-HQ has the same class.
func sam(b *builder, o *importer.Object) {
	noOCR(o)
	// Of segmentation maps: no influence, but transformers wants them to be
	// sizes.
	for _, key := range []string{"mask_size", "mask_pad_size"} {
		var s size
		readSize(o, key, &s, true, true)
	}
	b.decode()
	b.measures("original_sizes")
	if b.resize {
		if b.size.longest == 0 { // a shortest_edge beside it is ignored
			o.Bad("size", "longest_edge")
			return
		}
		b.Add(&transforms.Resize{
			Fit: transforms.FitLongest, Edge: b.size.longest, SizeRule: transforms.SizeHalfUp,
			Interpolation: b.resample, Backend: transforms.Pillow,
		})
	}
	if b.centerCrop { // which may change the size
		b.measures("reshaped_input_sizes")
		b.tail(o)
	} else {
		b.tail(o)
		b.measures("reshaped_input_sizes")
	}
	b.pads(o)
}

// measures makes the image's size a side output.
func (b *builder) measures(name string) {
	b.Then(transforms.NewImageSize(), []string{b.Outputs[0]}, []string{name})
	b.SideOutputs = append(b.SideOutputs, name)
}
