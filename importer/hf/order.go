package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes resize at another place in the order of steps, or without
// antialiasing. They have no PIL backend.
func init() {
	define(func(classes map[string]class) {
		plainDefaults := settings{resize: true, rescale: true, normalize: true, size: square(224), resample: transforms.Bilinear, mean: imagenetMean, std: imagenetStd}
		add := func(name string, change func(s *settings), build func(b *builder, o *importer.Object)) {
			s := plainDefaults
			change(&s)
			classes[name] = class{defaults: s, torchOnly: true, build: build}
		}
		add("DINOv3ViT", func(*settings) {}, dinov3)
		add("DepthPro", func(s *settings) { s.size, s.mean, s.std = square(1536), halves, halves }, depthPro)
		page := func(s *settings) {
			s.size, s.resample, s.mean, s.std = square(800), transforms.Bicubic, []float64{0, 0, 0}, []float64{1, 1, 1}
		}
		add("PPDocLayoutV2", page, docLayout)
		add("PPDocLayoutV3", page, docLayout)
		add("PPDocLayoutV4", page, docLayoutV4)
		add("RfDetr", func(s *settings) { *s = detrDefaults }, rfDetr)
	})
}

// rescales adds the multiplication by rescale_factor alone, if do_rescale is
// set.
func (b *builder) rescales(o *importer.Object) {
	normalize := b.normalize
	b.normalize = false
	b.values(o, 0)
	b.normalize = normalize
	b.rescale = false
}

// normalizesFloats adds the normalization without a conversion from bytes,
// which torchvision rejects.
func (b *builder) normalizesFloats(o *importer.Object) {
	if !b.normalize {
		return
	}
	if !b.float {
		o.Bad("do_normalize", "false without do_rescale: torchvision normalizes floats only")
		return
	}
	b.normalizes(b.mean, b.std)
}

// dinov3 adds the steps of DINOv3, which resizes floats. The class ignores the
// padding.
func dinov3(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	b.rescales(o)
	b.resizes()
	b.crops(o)
	b.normalizesFloats(o)
	b.Add(transforms.NewHWC2CHW())
}

// depthPro adds the steps of Depth Pro, which resizes last. The class ignores
// the crop and the padding.
func depthPro(b *builder, o *importer.Object) {
	noOCR(o)
	b.decode()
	b.values(o, 0)
	if b.resize {
		b.aliased(o)
		b.resizeTo(b.size)
	}
	b.Add(transforms.NewHWC2CHW())
}

// aliased turns antialiasing off.
func (b *builder) aliased(o *importer.Object) {
	b.noAntialias = true
	if b.resize && b.resample == transforms.Lanczos {
		o.Bad("resample", "0, 2 or 3: torchvision has no lanczos without antialiasing")
		b.resample = transforms.Bilinear
	}
}

// docLayout adds the backend's steps without antialiasing.
func docLayout(b *builder, o *importer.Object) {
	b.aliased(o)
	plain(b, o)
}

// docLayoutV4 adds the steps of PP-DocLayoutV4: the resized floats are limited
// to their range, which bicubic may exceed.
func docLayoutV4(b *builder, o *importer.Object) {
	noOCR(o)
	b.aliased(o)
	b.decode()
	most := 255.0
	if b.rescale {
		most = float64(255 * b.factor)
		b.Add(&transforms.Rescale{Scale: b.factor, Rule: transforms.RescaleMultiply})
		b.rescale, b.float = false, true
	}
	if b.resize {
		b.resizeTo(b.size)
		if !b.float {
			b.Add(transforms.NewToType(tensor.Float32))
			b.float = true
		}
		if most < 0 {
			o.Bad("rescale_factor", "a number of at least 0")
			return
		}
		b.Add(transforms.NewClamp(0, most))
	}
	b.tail(o)
	b.pads(o)
}

// rfDetr adds the steps of RF-DETR: those of detr, but the resize is of floats,
// without antialiasing.
func rfDetr(b *builder, o *importer.Object) {
	b.detectionKeys(o)
	b.aliased(o)
	b.decode()
	b.rescales(o)
	if b.resize && !b.detectionResize(o, transforms.SizeCapUnrounded) {
		return
	}
	b.normalizesFloats(o)
	b.Add(transforms.NewHWC2CHW())
	if b.pad {
		b.padsWithMask(b.padSize, o)
	}
}
