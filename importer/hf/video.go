package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes take videos. Here the image is the only frame of one, and
// pixel_values has an axis of frames, except for VideoLlava.
func init() {
	define(func(classes map[string]class) {
		classes["VideoMAE"] = class{
			defaults: settings{
				resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224), crop: square(224),
				resample: transforms.Bilinear, mean: halves, std: halves,
			},
			build: func(b *builder, o *importer.Object) {
				unpadded(b, o)
				b.frames()
			},
		}
		classes["Tvp"] = class{
			defaults: settings{
				resize: true, centerCrop: true, rescale: true, normalize: true, pad: true, notSquare: true,
				size: size{longest: 448}, crop: square(448), padSize: square(448), resample: transforms.Bilinear, mean: halves, std: halves,
				anySize: true,
			},
			build: tvp,
		}
		classes["Vivit"] = class{
			defaults: settings{
				ownSize: true, nullValues: true, resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(256), crop: square(224),
				resample: transforms.Bilinear, factor: 1 / 127.5, mean: halves, std: halves,
			},
			numpyOnly: true,
			build:     vivit,
		}
		classes["VideoLlava"] = class{
			defaults: settings{
				ownSize: true, nullValues: true, convertRGB: true, resize: true, centerCrop: true, rescale: true, normalize: true, notSquare: true, size: shortest(224),
				crop: square(224), resample: transforms.Bicubic, mean: clipMean, std: clipStd,
			},
			numpyOnly: true,
			output:    "pixel_values_images",
			build:     videoLlava,
		}
	})
}

// frames adds the axis of frames.
func (b *builder) frames() { b.Add(transforms.NewExpandDims(0)) }

// tvp adds the steps of TVP. The longer side becomes longest_edge. The channels
// are in the order BGR, unless do_flip_channel_order is false.
func tvp(b *builder, o *importer.Object) {
	noOCR(o)
	flip := o.Bool("do_flip_channel_order", true)
	fill := []float64{0}
	if v, ok := o.Get("constant_values"); ok {
		f, number := importer.Float(v)
		l, three := importer.Floats(v, 3)
		switch {
		case number:
			fill = []float64{f}
		case three && b.torch:
			fill = l
		case b.pad:
			o.Bad("constant_values", "a number, or with torchvision's backend three")
			return
		}
	}
	mode := transforms.PadConstant
	if v := o.String("pad_mode"); o.Has("pad_mode") && !b.torch && b.pad { // torchvision's backend ignores it
		m, ok := map[string]transforms.PadMode{
			"constant": transforms.PadConstant, "reflect": transforms.PadReflect, "replicate": transforms.PadEdge, "symmetric": transforms.PadSymmetric,
		}[v]
		if mode = m; !ok {
			o.Bad("pad_mode", "constant, reflect, replicate or symmetric")
			return
		}
	}
	o.Inert("pad_mode", "constant_values")

	b.decode()
	switch {
	case b.resize && b.size.longest > 0:
		b.sizeRule(&transforms.Resize{Fit: transforms.FitLongest, Edge: b.size.longest, SizeRule: transforms.SizeAspect})
	case b.resize && b.size == (size{}):
		o.Bad("size", sizeWant+", or an object with longest_edge")
		return
	case b.resize:
		b.resizeTo(b.size)
	}
	if flip {
		b.swapChannels()
		fill = reversed(fill)
	}
	b.tail(o)
	if b.pad && !(b.torch && b.padSize == (size{})) {
		if b.padSize.height == 0 {
			o.Bad("pad_size", "height and width")
			return
		}
		p := transforms.NewPadToSize(b.padSize.height, b.padSize.width)
		p.Position, p.Fill, p.Mode = transforms.TopLeft, fill, mode
		b.Add(p)
	}
	b.frames()
}

// ownSizes reads the size of the classes without backends. They take a
// shortest_edge, and ignore a longest_edge beside it, or height and width.
func (b *builder) ownSizes(o *importer.Object) {
	if !o.Null("size") {
		readSize(o, "size", &b.size, false, true)
	}
	o.Inert("size")
	b.size.longest = 0
	b.wantsResample(o)
	if b.resize && b.size.shortest == 0 && b.size.height == 0 {
		o.Bad("size", "shortest_edge, or height and width")
		b.resize = false
	}
}

// vivit adds the steps of ViViT. With offset, 1 is subtracted after the
// multiplication by rescale_factor. The reference reads an image of 1 or 3 rows
// as channels first; the graph does not.
func vivit(b *builder, o *importer.Object) {
	noOCR(o)
	b.ownSizes(o)
	b.convertRGB = false // the class ignores it
	offset := 0.0
	if o.Bool("offset", true) {
		offset = -1
		if !b.rescale {
			o.Bad("offset", "false without do_rescale")
			return
		}
	}
	b.decode()
	b.resizes()
	b.crops(o)
	b.values(o, offset)
	b.Add(transforms.NewHWC2CHW())
	b.frames()
}

// videoLlava adds the steps of Video-LLaVA for an image. The reference reads an
// image of 1 or 3 rows as channels first; the graph does not.
func videoLlava(b *builder, o *importer.Object) {
	noOCR(o)
	b.ownSizes(o)
	o.Inert("return_legacy_image_output")
	b.decode()
	b.resizes()
	b.tail(o)
}
