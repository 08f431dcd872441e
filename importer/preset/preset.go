// Package preset returns ready-made preprocessing graphs by name, so that
// common models need no configuration file:
//
//	g, err := preset.Graph("imagenet")
//
// Compile a graph with package datagraph.
package preset

import (
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/transforms"
)

type preset struct {
	name  string
	graph func() *datagraph.Graph
}

var presets = []preset{
	{"clip", clip},
	{"decode", decode},
	{"imagenet", imagenet},
	{"yolo", yolo},
}

// ErrUnknown reports a name that no preset has.
var ErrUnknown = errors.New("unknown preset")

// Names returns the names of the presets, sorted.
func Names() []string {
	var l []string
	for _, p := range presets {
		l = append(l, p.name)
	}
	return l
}

// Graph returns a new graph of a preset; the caller owns it:
//
//   - decode: uint8 HWC RGB, as from Pillow's Image.open(f).convert("RGB").
//   - imagenet: float32 (3, 224, 224), as from torchvision's evaluation of
//     ImageNet classifiers on Pillow images: Resize(256), CenterCrop(224),
//     ToTensor, Normalize.
//   - clip: float32 (3, 224, 224) "pixel_values", as from transformers'
//     CLIPImageProcessorPil with the configuration of
//     openai/clip-vit-base-patch32.
//   - yolo: float32 (3, 640, 640) "images" in RGB, as from Ultralytics'
//     LetterBox with auto off, divided by 255; with the side outputs scale and
//     pad.
//
// The error of an unknown name wraps ErrUnknown, and suggests the closest name
// or lists the names.
func Graph(name string) (*datagraph.Graph, error) {
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("preset: %w %q%s", ErrUnknown, name, registry.Hint(name, Names()))
	}
	return presets[i].graph(), nil
}

func decode() *datagraph.Graph {
	g := datagraph.New(transforms.NewDecode())
	g.Reference = `Pillow 13.0.0 convert("RGB")`
	return g
}

// The mean and standard deviation of ImageNet's RGB, with which the models of
// torchvision and timm were trained.
var imagenetMean, imagenetStd = []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}

func imagenet() *datagraph.Graph {
	resize := transforms.NewResizeShortest(256)
	crop := transforms.NewCenterCrop(224, 224)
	crop.CropRounding = transforms.CropHalfEven
	g := datagraph.New(
		transforms.NewDecode(), resize, crop, transforms.NewToTensor(),
		transforms.NewNormalize(slices.Clone(imagenetMean), slices.Clone(imagenetStd)),
	)
	g.Reference = "torchvision 0.29.2 Resize(256), CenterCrop(224), ToTensor, Normalize on Pillow 13.0.0"
	return g
}

// clip reproduces preprocessor_config.json of openai/clip-vit-base-patch32. The
// image is decoded as by load_image, convert("RGB"); the processor's own
// do_convert_rgb then puts a PNG's colour key on white.
func clip() *datagraph.Graph {
	d := transforms.NewDecode()
	d.Alpha = codec.AlphaKeyWhite
	resize := transforms.NewResizeShortest(224)
	resize.Interpolation = transforms.Bicubic
	crop := transforms.NewCenterCrop(224, 224)
	crop.CropRounding = transforms.CropFloor
	g := datagraph.New(
		d, resize, crop, transforms.NewRescale(1.0/255),
		transforms.NewNormalize([]float64{0.48145466, 0.4578275, 0.40821073}, []float64{0.26862954, 0.26130258, 0.27577711}),
		transforms.NewHWC2CHW(),
	).Rename("pixel_values")
	g.Reference = "transformers 5.23.0 CLIPImageProcessorPil, openai/clip-vit-base-patch32"
	return g
}

func yolo() *datagraph.Graph {
	g := datagraph.New(transforms.NewDecode(), transforms.NewLetterbox(640, 640), transforms.NewToTensor()).Rename("images")
	g.Reference = "Ultralytics LetterBox((640, 640), auto=False) on OpenCV 5.0.0.93, then /255"
	return g
}
