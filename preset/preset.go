// Package preset holds graphs that need no configuration file.
package preset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
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

// Names lists the presets, sorted.
func Names() []string {
	var l []string
	for _, p := range presets {
		l = append(l, p.name)
	}
	return l
}

// Graph makes a preset's graph, which is the caller's to change:
//
//   - decode: uint8 HWC RGB, as Pillow's Image.open(f).convert("RGB").
//   - imagenet: float32 (3, 224, 224), as torchvision's evaluation of ImageNet
//     classifiers on Pillow images: Resize(256), CenterCrop(224), ToTensor, Normalize.
//   - clip: float32 (3, 224, 224) "pixel_values", as transformers'
//     CLIPImageProcessorPil with the configuration of openai/clip-vit-base-patch32.
//   - yolo: float32 (3, 640, 640) "images" in RGB, as Ultralytics' LetterBox
//     with auto off, then /255; with the side outputs scale and pad.
//
// An unknown name is an error that lists the names.
func Graph(name string) (*datagraph.Graph, error) {
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("preset: unknown preset %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return presets[i].graph(), nil
}

func decode() *datagraph.Graph {
	g := datagraph.New(transforms.NewDecode())
	g.Reference = `Pillow 13.0.0 convert("RGB")`
	return g
}

// The mean and standard deviation of ImageNet's RGB, as torchvision's and
// timm's models were trained with.
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

// clip is preprocessor_config.json of openai/clip-vit-base-patch32. The image
// is as load_image gives it, convert("RGB"), after which the processor's own
// do_convert_rgb puts a PNG's colour key on white.
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
