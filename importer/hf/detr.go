package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// pixelMask names the output that marks the image's pixels, for models with
// padded batches.
const pixelMask = "pixel_mask"

// maxEdge is the default of max_size.
const maxEdge = 1333

// The four classes have the same code in transformers 5.23.0. Table Transformer
// and OmDet-Turbo use DetrImageProcessor too.
func init() {
	define(func(classes map[string]class) {
		for _, name := range []string{"Detr", "ConditionalDetr", "DeformableDetr", "GroundingDino"} {
			classes[name] = class{defaults: detrDefaults, build: detr}
		}
		classes["RTDetr"] = class{
			defaults: settings{resize: true, rescale: true, notSquare: true, size: square(640), resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd, anySize: true},
			build:    detr,
		}
	})
}

var detrDefaults = settings{
	resize: true, rescale: true, normalize: true, pad: true, notSquare: true,
	size: size{shortest: 800, longest: maxEdge}, resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd,
	maxSize: maxEdge, anySize: true,
}

func detr(b *builder, o *importer.Object) { detection(b, o, transforms.SizeCapUnrounded) }

// detection adds the steps of DetrImageProcessorPil without annotations. The
// class ignores the centre crop. With padding, pixel_mask is an output, even if
// the padding is empty: without pad_size, a single image is padded to its own
// size.
func detection(b *builder, o *importer.Object, rule transforms.SizeRule) {
	b.detectionKeys(o)
	b.decode()
	if b.resize && !b.detectionResize(o, rule) {
		return
	}
	b.centerCrop = false
	b.tail(o)
	if b.pad {
		b.padsWithMask(b.padSize, o)
	}
}

// detectionKeys reads the keys of DETR's classes.
func (b *builder) detectionKeys(o *importer.Object) {
	noOCR(o)
	// pad_and_return_pixel_mask is the old name of do_pad, which takes
	// precedence.
	if old := o.Bool("pad_and_return_pixel_mask", b.pad); !o.Has("do_pad") {
		b.pad = old
	}
	if v, ok := o.Get("format"); ok && v != "coco_detection" && v != "coco_panoptic" {
		o.Bad("format", `"coco_detection" or "coco_panoptic"`)
	}
	o.Inert("do_convert_annotations") // annotations are outside the graph
}

// detectionResize adds the resize of DETR's classes. ok is false if size has
// the wrong form.
func (b *builder) detectionResize(o *importer.Object, rule transforms.SizeRule) (ok bool) {
	s := b.size
	switch {
	case s.shortest > 0 && s.longest > 0:
		r := &transforms.Resize{
			Fit: transforms.FitShortest, Edge: s.shortest, MaxEdge: s.longest, SizeRule: rule,
		}
		if rule == transforms.SizeCapUnroundedDown {
			r.Multiple = yolosMultiple
		}
		b.sizeRule(r)
	case s.shortest > 0 || s.longest > 0 || s.height == 0 && s.maxHeight == 0:
		o.Bad("size", "height and width, shortest_edge and longest_edge, or max_height and max_width")
		return false
	default:
		b.resizeTo(s)
	}
	return true
}

// padsWithMask pads the image at the bottom and right, to its own size if s is
// zero, and adds the output pixel_mask. A batch is padded to its largest image.
func (b *builder) padsWithMask(s size, o *importer.Object) {
	p := transforms.NewPadWithMask(s.height, s.width)
	if s != (size{}) && p.Height == 0 {
		o.Bad("pad_size", "height and width")
		return
	}
	image := b.Outputs[0]
	b.Then(p, []string{image}, []string{image, pixelMask})
	b.Outputs = append(b.Outputs, pixelMask)
	b.padsBatch(image, pixelMask)
}
