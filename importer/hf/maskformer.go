package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// The first two classes have the same code in transformers 5.23.0.
func init() {
	define(func(classes map[string]class) {
		detection := settings{
			resize: true, rescale: true, normalize: true, notSquare: true, size: size{shortest: 800, longest: maxEdge},
			resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd,
		}
		for _, name := range []string{"MaskFormer", "Mask2Former"} {
			s := detection
			s.ownSize = true
			classes[name] = class{defaults: s, build: maskFormer}
		}
		detection.convertRGB = true
		classes["OneFormer"] = class{defaults: detection, build: oneFormer}
	})
}

// maskFormer adds the steps of MaskFormerImageProcessor without segmentation
// maps: the resized sides grow to multiples of size_divisor. The outputs are
// pixel_values and pixel_mask. The class ignores do_pad and the centre crop.
func maskFormer(b *builder, o *importer.Object) {
	noOCR(o)
	o.Inert("ignore_index", "num_labels", "size_divisibility", "_max_size")
	b.maskFormerSize(o)
	b.wantsResample(o)
	divisor := 32
	if v, ok := o.Get("size_divisor"); ok && !(v == nil && !b.resize) {
		n, ok := importer.Int(v, 0, importer.MaxSide)
		if divisor = max(n, 1); !ok { // 0 means that the sides keep their length
			o.Bad("size_divisor", "a whole number of 0 to 16777216")
			return
		}
	}
	b.decode()
	if b.resize {
		up := func(n int) int { return (n + divisor - 1) / divisor * divisor }
		switch s := b.size; {
		case s.shortest > 0 && s.longest > 0:
			b.sizeRule(&transforms.Resize{
				Fit: transforms.FitShortest, Edge: s.shortest, MaxEdge: s.longest, Multiple: divisor, SizeRule: transforms.SizeCapUnroundedUp,
			})
		case s.maxHeight > 0:
			b.sizeRule(&transforms.Resize{
				Fit: transforms.FitInside, Height: s.maxHeight, Width: s.maxWidth, Multiple: divisor, SizeRule: transforms.SizeTruncateUp,
			})
		case s.height > 0 && up(max(s.height, s.width)) <= importer.MaxSide:
			b.resizeTo(size{height: up(s.height), width: up(s.width)})
		default:
			o.Bad("size", "height and width, shortest_edge and longest_edge, or max_height and max_width")
			return
		}
	}
	b.centerCrop = false
	b.tail(o)
	b.padsWithMask(b.padSize, o)
}

// maskFormerSize reads size and max_size, which is the longest edge if size is
// a number or absent.
func (b *builder) maskFormerSize(o *importer.Object) {
	most := nullSide(o, "max_size", 0, 0)
	if v, ok := o.Get("size"); ok && v != nil {
		readSize(o, "size", &b.size, false, true)
		if _, ok := importer.Int(v, 1, importer.MaxSide); ok {
			b.size.longest = most
		}
		return
	}
	o.Inert("size")
	if most > 0 {
		b.size.longest = most
	}
}

// oneFormer adds the steps of OneFormer without segmentation maps and texts. It
// ignores the centre crop and the padding, but always returns pixel_mask.
func oneFormer(b *builder, o *importer.Object) {
	// These are about segmentation maps and texts.
	o.Inert("repo_path", "class_info_file", "num_text", "num_labels", "ignore_index", "metadata", "max_size", "_max_size")
	b.centerCrop = false
	unpadded(b, o)
	b.padsWithMask(size{}, o)
}
