package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// These classes have the steps of the backends alone, with defaults of their
// own.
func init() {
	define(func(classes map[string]class) {
		normal := settings{convertRGB: true, resize: true, rescale: true, normalize: true, resample: transforms.Bicubic, mean: clipMean, std: clipStd}
		for name, c := range map[string]struct {
			torchOnly bool
			change    func(s *settings)
		}{
			"Blip": {change: func(s *settings) { s.size = square(384) }},
			"ChineseCLIP": {change: func(s *settings) {
				s.centerCrop, s.notSquare, s.size, s.crop = true, true, shortest(224), square(224)
			}},
			"OwlViT": {change: func(s *settings) { s.size, s.crop = square(768), square(768) }},
			"Pvt": {change: func(s *settings) {
				s.convertRGB, s.size, s.mean, s.std = false, square(224), imagenetMean, imagenetStd
			}},
			"PPChart2Table": {change: func(s *settings) { s.convertRGB, s.size = false, square(1024) }},
			"Chameleon": {change: func(s *settings) {
				ones := []float64{1, 1, 1}
				s.centerCrop, s.notSquare, s.size, s.crop = true, true, shortest(512), square(512)
				s.resample, s.factor, s.mean, s.std = transforms.Lanczos, 0.0078, ones, ones
			}},
			"Tipsv2":    {true, tipsv2},
			"Tipsv2Dpt": {true, tipsv2},
			"PI0": {true, func(s *settings) {
				s.pad, s.notSquare, s.size, s.padSize, s.mean, s.std = true, true, size{maxHeight: 224, maxWidth: 224}, square(224), halves, halves
			}},
		} {
			s := normal
			c.change(&s)
			classes[name] = class{defaults: s, torchOnly: c.torchOnly, build: plain}
		}
		classes["SegGpt"] = class{
			defaults: settings{resize: true, rescale: true, normalize: true, size: square(448), resample: transforms.Bicubic, mean: imagenetMean, std: imagenetStd},
			build:    segGPT,
		}
	})
}

// segGPT adds the steps of SegGPT without prompts. do_convert_rgb is about
// prompts, and the class ignores the centre crop and the padding.
func segGPT(b *builder, o *importer.Object) {
	o.Inert("num_labels")
	b.convertRGB, b.centerCrop = false, false
	unpadded(b, o)
}

func tipsv2(s *settings) {
	s.normalize, s.size, s.resample, s.mean, s.std = false, square(448), transforms.Bilinear, nil, nil
}
