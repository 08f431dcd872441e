// Package torchvision imports the arguments of torchvision's
// ImageClassification preset, which every classification model's weights have
// as their transforms:
//
//	{"torchvision": {"crop_size": 224, "resize_size": 232, "interpolation": "bilinear", "mean": […], "std": […]}}
//
// crop_size is required. The others have the preset's defaults: resize_size
// 256, bilinear, ImageNet's mean and std.
//
// The reference is torchvision 0.29.2's preset applied to
// Image.open(f).convert("RGB"). For such PIL images it always antialiases and
// ignores the key antialias. The output is the column image, float32 CHW, since
// torchvision does not name it.
package torchvision

import (
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	importer.Register(importer.Importer{
		Name: "torchvision", Import: Import,
		Doc: "the arguments of torchvision's ImageClassification preset as JSON, as torchvision 0.29.2 applies them",
	})
}

// These are the preset's defaults.
const defaultResize = 256

var (
	defaultMean = []float64{0.485, 0.456, 0.406}
	defaultStd  = []float64{0.229, 0.224, 0.225}
)

// interpolations maps the values of InterpolationMode. Pillow's nearest samples
// pixel centres, so nearest-exact is the same for PIL images.
var interpolations = map[string]transforms.Interpolation{
	"nearest": transforms.Nearest, "nearest-exact": transforms.Nearest, "bilinear": transforms.Bilinear,
	"bicubic": transforms.Bicubic, "box": transforms.Box, "hamming": transforms.Hamming, "lanczos": transforms.Lanczos,
}

// Import reads a preset's arguments.
func Import(data []byte) (*datagraph.Graph, error) {
	file, err := importer.Parse(data)
	if err != nil {
		return nil, err
	}
	o := file.Object("torchvision")
	if o == nil {
		if !file.Has("torchvision") {
			file.Fail(importer.ErrMissing, "torchvision", "want an object with the preset's arguments")
		} else {
			file.Bad("torchvision", "an object with the preset's arguments")
		}
		return nil, file.Err("torchvision")
	}
	g := build(o)
	if err := file.Err("torchvision"); err != nil {
		return nil, err
	}
	return importer.Finish("torchvision", g)
}

func build(o *importer.Object) *datagraph.Graph {
	if !o.Has("crop_size") {
		o.Fail(importer.ErrMissing, "crop_size", "want a whole number")
	}
	crop, edge := side(o, "crop_size", 1), side(o, "resize_size", defaultResize)
	r := transforms.NewResizeShortest(edge)
	if o.Has("interpolation") {
		i, ok := interpolations[o.String("interpolation")]
		if !ok {
			o.Bad("interpolation", "nearest, nearest-exact, bilinear, bicubic, box, hamming or lanczos")
		}
		r.Interpolation = i
	}
	mean, std := values(o, "mean", defaultMean), values(o, "std", defaultStd)
	if slices.Contains(std, 0) {
		o.Bad("std", "numbers other than 0")
	}
	o.Bool("antialias", true)
	g := datagraph.New(transforms.NewDecode(), r, transforms.NewCenterCrop(crop, crop), transforms.NewToTensor(), transforms.NewNormalize(mean, std))
	g.Reference = "torchvision 0.29.2 ImageClassification"
	return g
}

// side reads a number or a list of one, the form that the preset stores and
// prints.
func side(o *importer.Object, key string, def int) int {
	v, _ := o.Get(key)
	if l, ok := importer.Ints(v, 1, 1, importer.MaxSide); ok {
		return l[0]
	}
	return o.Side(key, def)
}

func values(o *importer.Object, key string, def []float64) []float64 {
	v, ok := o.Get(key)
	if !ok {
		return slices.Clone(def)
	}
	l, ok := importer.Floats(v, 3)
	if !ok {
		o.Bad(key, "a list of three numbers")
		return slices.Clone(def)
	}
	return l
}
