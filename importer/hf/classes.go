package hf

import (
	"maps"
	"sync"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// class is one of transformers' image processors, image_processing_*.py and
// image_processing_pil_*.py.
type class struct {
	name     string
	defaults settings
	// torchOnly reports that the class has no PIL backend. numpyOnly reports
	// that it has neither, but code of its own, which is like PIL's.
	torchOnly, numpyOnly bool
	output               string // name of the first output; default pixel_values
	// partial is the reason why a backend refuses the class's defaults.
	partial string
	batch   batchRules
	// build reads the class's own keys and adds the steps.
	build func(b *builder, o *importer.Object)
}

// These are the means and deviations in transformers' image_utils.
var (
	halves       = []float64{0.5, 0.5, 0.5} // mean and std of IMAGENET_STANDARD
	imagenetMean = []float64{0.485, 0.456, 0.406}
	imagenetStd  = []float64{0.229, 0.224, 0.225}
	clipMean     = []float64{0.48145466, 0.4578275, 0.40821073}
	clipStd      = []float64{0.26862954, 0.26130258, 0.27577711}
)

// definitions add classes to the table of classes.
var definitions []func(classes map[string]class)

// define calls f before the table of classes is used.
func define(f func(classes map[string]class)) { definitions = append(definitions, f) }

// classes returns the table of classes by name.
var classes = sync.OnceValue(func() map[string]class {
	all := map[string]class{}
	for _, f := range definitions {
		f(all)
	}
	return all
})

func init() {
	define(func(classes map[string]class) {
		maps.Copy(classes, map[string]class{
			"ViT": {
				defaults: settings{resize: true, rescale: true, normalize: true, size: square(224), resample: transforms.Bilinear, mean: halves, std: halves},
				build:    plain,
			},
			"DeiT": {
				defaults: settings{resize: true, centerCrop: true, rescale: true, normalize: true, size: square(256), crop: square(224), resample: transforms.Bicubic, mean: halves, std: halves},
				build:    plain,
			},
			"Beit": {
				defaults: settings{resize: true, rescale: true, normalize: true, size: square(224), crop: square(224), resample: transforms.Bicubic, mean: halves, std: halves},
				build:    unpadded,
			},
			"CLIP": {
				defaults: settings{convertRGB: true, resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224), crop: square(224), resample: transforms.Bicubic, mean: clipMean, std: clipStd},
				build:    clip,
			},
			"Siglip": {
				defaults: settings{convertRGB: true, resize: true, rescale: true, normalize: true, notSquare: true, size: square(224), resample: transforms.Bicubic, mean: halves, std: halves},
				build:    plain,
			},
			"Bit": {
				defaults: settings{convertRGB: true, resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224), crop: square(224), resample: transforms.Bicubic, mean: clipMean, std: clipStd},
				build:    plain,
			},
			"ConvNext": {
				defaults: settings{resize: true, rescale: true, normalize: true, notSquare: true, size: shortest(384), resample: transforms.Bicubic, mean: halves, std: halves},
				build:    convNext,
			},
			"EfficientNet": {
				defaults: settings{resize: true, rescale: true, normalize: true, size: square(346), crop: square(289), resample: transforms.Bicubic, mean: halves, std: halves},
				build:    efficientNet,
			},
			"MobileNetV1": {
				defaults: settings{resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(256), crop: square(224), resample: transforms.Bilinear, mean: halves, std: halves},
				build:    plain,
			},
			"MobileNetV2": {
				defaults: settings{resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(256), crop: square(224), resample: transforms.Bilinear, mean: halves, std: halves},
				build:    unpadded,
			},
			"MobileViT": {
				defaults: settings{resize: true, centerCrop: true, rescale: true, notSquare: true, size: shortest(224), crop: square(256), resample: transforms.Bicubic, mean: halves, std: halves},
				build:    mobileViT,
			},
			"Levit": {
				defaults: settings{resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224), crop: square(224), resample: transforms.Bicubic, mean: imagenetMean, std: imagenetStd},
				build:    levit,
			},
			"Segformer": {
				defaults: settings{resize: true, rescale: true, normalize: true, size: square(512), resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd},
				build:    segformer,
			},
			"LayoutLMv3": {
				defaults: settings{resize: true, rescale: true, normalize: true, size: square(224), resample: transforms.Bilinear, mean: halves, std: halves},
				build:    layoutLMv3,
			},
		})
	})
}

// noOCR accepts apply_ocr false, which changes nothing.
func noOCR(o *importer.Object) {
	if o.Bool("apply_ocr", false) {
		o.Bad("apply_ocr", "false: OCR is outside of the graph")
	}
}

// wantsNoOCR requires apply_ocr false, for a class whose default is true.
func wantsNoOCR(o *importer.Object, class string) {
	if o.Bool("apply_ocr", true) {
		o.Bad("apply_ocr", "false: OCR is outside of the graph, and "+class+" does it unless told not to")
	}
}

// plain adds the steps of PilBackend and TorchvisionBackend.
func plain(b *builder, o *importer.Object) {
	unpadded(b, o)
	b.pads(o)
}

// unpadded adds the steps of plain without do_pad, which some classes
// ignore.
func unpadded(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	b.resizes()
	b.tail(o)
}

func clip(b *builder, o *importer.Object) {
	// KOSMOS-2 sets use_square_size: the class's default size applies, as a
	// square, whatever size says.
	if o.Bool("use_square_size", false) {
		b.size = square(224)
	}
	plain(b, o)
}

// fullSize is the smallest size at which ConvNeXT squashes instead of cropping.
const fullSize = 384

func convNext(b *builder, o *importer.Object) {
	noOCR(o)
	pct, ok := cropPct(o, 224.0/256)
	if !ok {
		return
	}
	b.decode()
	if b.resize {
		edge := b.size.shortest // ConvNeXT ignores a longest_edge
		switch {
		case edge == 0:
			o.Bad("size", "shortest_edge")
		case edge >= fullSize:
			b.resizeTo(square(edge))
		case pct == 0:
			o.Bad("crop_pct", "a number above 0, for a size below 384")
		default:
			b.resizeTo(shortest(truncated(float64(edge)/pct, o)))
			b.cropTo(edge, edge)
		}
	}
	b.tail(o)
}

// cropPct reads crop_pct. It returns 0 for null. ok is false if the value is
// invalid.
func cropPct(o *importer.Object, def float64) (pct float64, ok bool) {
	v, given := o.Get("crop_pct")
	switch {
	case !given:
		return def, true
	case v == nil:
		return 0, true
	}
	if pct, ok = importer.Float(v); !ok || pct <= 0 {
		o.Bad("crop_pct", "a number above 0")
		return 0, false
	}
	return pct, true
}

// truncated returns v truncated to an integer, as an edge. An edge outside 1 to
// MaxSide is an error.
func truncated(v float64, o *importer.Object) int {
	if !(v >= 1 && v <= importer.MaxSide) {
		o.Bad("size", "an edge that is resized to 1 to 16777216 pixels")
		return 1
	}
	return int(v)
}

func levit(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	if b.resize {
		switch s := b.size; {
		case s.shortest > 0: // LeViT ignores a longest_edge
			const ratio = 256.0 / 224
			b.resizeTo(shortest(truncated(float64(float64(ratio)*float64(s.shortest)), o)))
		case s.height > 0:
			b.resizeTo(s)
		default:
			o.Bad("size", "shortest_edge, or height and width")
		}
	}
	b.tail(o)
	b.pads(o)
}

func efficientNet(b *builder, o *importer.Object) {
	noOCR(o)
	offset := 0.0
	if o.Bool("rescale_offset", false) {
		offset = -1
	}
	top := o.Bool("include_top", true)
	if top && b.std == nil {
		o.Bad("image_std", "one or three numbers, for include_top")
		return
	}
	if top && b.torch && !b.rescale && !b.normalize {
		o.Bad("include_top", "false without do_rescale and do_normalize: torchvision normalizes floats only")
		return
	}
	b.decode()
	b.resizes()
	b.crops(o)
	b.values(o, offset)
	if top { // even without do_normalize
		b.normalizes([]float64{0, 0, 0}, b.std)
	}
	b.Add(transforms.NewHWC2CHW())
}

// mobileViT adds the steps of MobileViT, which never normalises. transformers
// rescales before it crops, and swaps the channels last. Both orders return the
// same bytes, since the padding is 0 and all channels are rescaled alike. This
// order needs the fewest operations.
func mobileViT(b *builder, o *importer.Object) {
	noOCR(o)
	flip := o.Bool("do_flip_channel_order", true)
	b.decode()
	b.resizes()
	b.crops(o)
	if flip {
		b.Add(transforms.NewConvertColor(transforms.RGB, transforms.BGR))
	}
	b.normalize = false
	b.values(o, 0)
	b.Add(transforms.NewHWC2CHW())
}

// segformer adds the steps of Segformer, which ignores the centre crop.
func segformer(b *builder, o *importer.Object) {
	b.centerCrop = false
	unpadded(b, o)
}

func layoutLMv3(b *builder, o *importer.Object) {
	wantsNoOCR(o, "LayoutLMv3")
	if b.centerCrop && !b.torch { // transformers 5.23.0 raises a TypeError
		o.Bad("do_center_crop", "false: LayoutLMv3ImageProcessorPil cannot crop")
		return
	}
	b.decode()
	b.resizes()
	b.tail(o)
}
