package hf

import (
	"slices"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		line := settings{
			convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, size: size{height: 48, width: 320}, padSize: size{height: 48, width: 320},
			resample: transforms.Bilinear, mean: halves, std: halves,
		}
		classes["PPOCRV5ServerRec"] = class{defaults: line, torchOnly: true, build: func(b *builder, o *importer.Object) { textLine(b, o, false) }}
		classes["PPOCRV6SmallRec"] = class{defaults: line, torchOnly: true, build: func(b *builder, o *importer.Object) { textLine(b, o, true) }}
		classes["PPOCRV5ServerDet"] = class{
			defaults: settings{
				resize: true, rescale: true, normalize: true, size: square(960), resample: transforms.Bilinear,
				mean: []float64{0.406, 0.456, 0.485}, std: []float64{0.225, 0.224, 0.229}, anySize: true,
			},
			torchOnly: true, build: textPage,
		}
		classes["SLANeXt"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, pad: true, size: square(512), padSize: square(512),
				resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd, ownResample: true,
			},
			torchOnly: true, build: slanext,
		}
		classes["UVDoc"] = class{
			defaults:  settings{resize: true, rescale: true, size: size{height: 712, width: 488}, resample: transforms.Bilinear, ownResample: true},
			torchOnly: true, build: uvDoc,
		}
	})
}

// swapped adds BGR from RGB.
func (b *builder) swapped() { b.Add(transforms.NewConvertColor(transforms.RGB, transforms.BGR)) }

// swappedLast adds BGR for a class that swaps the channels after the
// normalization. Swapped before it with mean and deviation, the bytes are equal
// and need no copy of floats.
func (b *builder) swappedLast() {
	b.swapped()
	b.mean, b.std = slices.Clone(b.mean), slices.Clone(b.std)
	slices.Reverse(b.mean)
	slices.Reverse(b.std)
}

// floats converts the image to float32, so that the resize does not round.
func (b *builder) floats() {
	b.Add(transforms.NewToType(tensor.Float32))
	b.float = true
}

// textLine scales a line of text to size's height and pads it to pad_size, if
// it is narrower. The lines of PP-OCRv6, bytes, are in the order BGR and scaled
// without antialiasing; the lines of PP-OCRv5 are scaled in float32.
func textLine(b *builder, o *importer.Object, bytes bool) {
	noOCR(o)
	o.Inert("character_list") // for the text
	most := o.Side("max_image_width", 3200)
	if b.size.height == 0 {
		o.Bad("size", "height and width")
		return
	}
	if b.pad {
		switch {
		case !b.resize:
			o.Bad("do_pad", "false without do_resize: transformers would pad by the size of a resized line")
			return
		case b.centerCrop:
			o.Bad("do_pad", "false with do_center_crop: transformers would pad by the size before the crop")
			return
		case b.padSize.height != b.size.height || b.padSize.width == 0:
			o.Bad("pad_size", "size's height, and a width")
			return
		}
	}
	b.noAntialias = bytes
	b.decode()
	if b.resize {
		if !bytes {
			b.floats()
		}
		b.sizeRule(&transforms.Resize{Fit: transforms.FitHeight, Height: b.size.height, Width: b.size.width, MaxEdge: most})
	}
	if bytes {
		b.swapped()
	}
	b.tail(o)
	if b.pad {
		b.Add(transforms.NewPadToMin(b.padSize.height, b.padSize.width))
	}
}

// textPage scales a page for text detection to multiples of 32. The channels
// are swapped after the normalization. The output target_sizes, float32 (2), is
// the image's height and width. The class ignores size and the centre crop.
func textPage(b *builder, o *importer.Object) {
	noOCR(o)
	limit := o.Side("limit_side_len", 960)
	most := 4000
	if v, ok := o.Get("max_side_limit"); ok {
		if most = 0; v != nil {
			most = o.Side("max_side_limit", 4000)
		}
	}
	kind := "max"
	if o.Has("limit_type") {
		kind = o.String("limit_type")
	}
	if kinds := []string{"max", "min", "resize_long"}; !slices.Contains(kinds, kind) {
		o.Bad("limit_type", `"max", "min" or "resize_long"`)
		return
	}
	if !b.resize {
		o.Bad("do_resize", "true: without resizing transformers fails")
		return
	}
	const name = "target_sizes"
	b.decode()
	b.Then(&transforms.ImageSize{DType: tensor.Float32}, []string{b.Outputs[0]}, []string{name})
	b.swappedLast()
	b.floats()
	r := &transforms.Resize{MaxEdge: most, Multiple: 32, SizeRule: transforms.SizeNear}
	switch kind {
	case "max":
		r.Fit, r.Height, r.Width = transforms.FitInside, limit, limit
	case "min":
		r.Fit, r.Height, r.Width = transforms.FitCover, limit, limit
	default:
		r.Fit, r.Edge = transforms.FitLongest, limit
	}
	b.sizeRule(r)
	b.values(o, 0)
	b.Add(transforms.NewHWC2CHW())
	b.Outputs = append(b.Outputs, name)
}

// slanext scales the longer edge to that of size and pads to pad_size. It
// ignores resample.
func slanext(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	if b.resize {
		if b.size.height == 0 {
			o.Bad("size", "height and width")
			return
		}
		b.Add(transforms.NewResizeBilinear11(max(b.size.height, b.size.width)))
	}
	b.tail(o)
	b.pads(o)
}

// uvDoc rescales, swaps the channels and then resizes between the corners. The
// side output original_images is the image before the resize. The class ignores
// resample, the centre crop and the padding.
func uvDoc(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	b.swappedLast()
	b.values(o, 0)
	const name = "original_images"
	b.branch(b.Outputs[0], name, func(c *builder) { c.Add(transforms.NewHWC2CHW()) })
	b.SideOutputs = append(b.SideOutputs, name)
	if b.resize {
		if b.size.height == 0 {
			o.Bad("size", "height and width")
			return
		}
		b.Add(transforms.NewResizeAlignCorners(b.size.height, b.size.width))
	}
	b.Add(transforms.NewHWC2CHW())
}
