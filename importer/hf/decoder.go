package hf

import (
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// decoders are the ways in which programs read the files that they pass to an
// image processor of transformers.
func decoders() map[string]importer.Decoder {
	return map[string]importer.Decoder{
		"pillow": {
			Doc:   `the caller's Image.open(f).convert("RGB"), as stored; the default`,
			Apply: decodeSteps(func(*transforms.Decode) {}),
		},
		"load_image": {
			Doc:   "transformers 5.23.0 given a path, backend pil: upright by EXIF",
			Apply: decodeSteps(func(d *transforms.Decode) { d.Orientation = codec.OrientationApply }),
		},
		"torchcodec": {
			Doc: "transformers 5.23.0 given a path, backend torchvision, with TorchCodec 0.17.0: upright by EXIF, no BMP or TIFF",
			Apply: decodeSteps(func(d *transforms.Decode) {
				d.Orientation, d.Damage, d.Alpha = codec.OrientationApply, codec.DamageTorchCodec, codec.AlphaDrop
			}),
		},
		"vllm": {
			Doc: "vLLM 0.33.0: upright by EXIF, transparency on white",
			Apply: decodeSteps(func(d *transforms.Decode) {
				d.Orientation, d.Alpha = codec.OrientationApply, codec.AlphaWhite
			}),
		},
		"sglang": {
			Doc:   "SGLang 0.5.23 on the CPU: as pillow; for GLM-4V upright by EXIF, without transparency",
			Apply: sglang,
		},
	}
}

// sglang changes only graphs of GLM-4V. Its smart_to_rgb puts transparency on a
// colour that depends on the brightness of the edge.
func sglang(g *datagraph.Graph) error {
	glm := strings.Contains(g.Reference, "Glm4v") || strings.Contains(g.Reference, "Glm46V")
	return decodeSteps(func(d *transforms.Decode) {
		if glm {
			d.Orientation, d.Refuse = codec.OrientationApply, codec.RefuseAlpha
		}
	})(g)
}

// decodeSteps returns a function that changes the decode steps of a graph. They
// must have the pixels of Pillow's convert("RGB").
func decodeSteps(change func(*transforms.Decode)) func(*datagraph.Graph) error {
	return func(g *datagraph.Graph) error {
		for i, s := range g.Steps {
			d, ok := s.Op.(*transforms.Decode)
			if !ok {
				continue
			}
			rgb, c := *transforms.NewDecode(), *d
			c.Alpha = rgb.Alpha
			if c != rgb {
				return fmt.Errorf("the class reads image files in a way of its own (step %d)", i)
			}
			c = *d
			change(&c)
			g.Steps[i].Op = &c
		}
		return nil
	}
}
