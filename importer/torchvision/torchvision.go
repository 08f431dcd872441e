// Package torchvision imports torchvision's transforms in the form that Python
// prints: a Compose, a Sequential, or one of the presets that every weight has
// as its transforms,
//
//	python -c 'from torchvision.models import *; print(ResNet50_Weights.DEFAULT.transforms())'
//
// It reads their source too, transforms.Compose([…]) with literal arguments.
// Lines that import the transforms say whether they are v1's or v2's; without
// them, source is an error if the two differ.
//
// It also imports the arguments of the preset ImageClassification as JSON:
//
//	{"torchvision": {"crop_size": 224, "resize_size": 232, "interpolation": "bilinear", "mean": […], "std": […]}}
//
// crop_size is required. The others have the preset's defaults: resize_size
// 256, bilinear, ImageNet's mean and std.
//
// The reference is torchvision 0.29.2 with torch 2.15.0 on x86-64 with AVX2,
// applied to Image.open(f).convert("RGB") (Import), or to the uint8 tensor of
// decode_image(f, mode="RGB") (ImportTensor). The bytes differ: Pillow scales
// images, and torch scales tensors, v1 in float32 and v2 in uint8. The importer
// recognizes v1 and v2 by the form of what they print. decode_image reads JPEG,
// PNG, WebP and GIF; its PNG of 16 bits are uint16 tensors and its transparent
// GIF have other colours, and the graph decodes both as Pillow does.
//
// Python does not print the dtype of ToDtype and ConvertImageDtype: the
// importer takes it to be float32. Random transforms, and functions such as
// Lambda, are errors. The output is the column image, CHW, since torchvision
// does not name it.
package torchvision

import (
	"bytes"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	importer.Register(importer.Importer{
		Name: "torchvision", Import: Import,
		Doc:      "torchvision's transforms as Python prints them, or the arguments of its ImageClassification preset as JSON, as torchvision 0.29.2 applies them to a Pillow image, or with --backend tensor to a tensor",
		Detect:   detect,
		Backends: map[string]func([]byte) (*datagraph.Graph, error){"pil": Import, "tensor": ImportTensor},
	})
}

// detect finds the preset's arguments, and text that calls a transform.
func detect(_ string, head []byte) bool {
	if importer.HasKey(head, "torchvision") {
		return true
	}
	text := bytes.TrimSpace(importer.Text(head))
	name, _, ok := bytes.Cut(text, []byte("("))
	return ok && isName(bytes.TrimSpace(name)) || bytes.Contains(text, []byte("Compose(")) && utf8.Valid(name)
}

// Import reads transforms that are applied to a Pillow image.
func Import(data []byte) (*datagraph.Graph, error) { return load(data, false) }

// ImportTensor reads transforms that are applied to a uint8 tensor, as
// torchvision's decode_image returns it.
func ImportTensor(data []byte) (*datagraph.Graph, error) { return load(data, true) }

func load(data []byte, tensors bool) (*datagraph.Graph, error) {
	if g, ok, err := importSource(data, tensors); ok {
		return g, err
	}
	call := importer.Text(data)
	b := &builder{Graph: datagraph.New(transforms.NewDecode()), fromTensor: tensors, tensor: tensors}
	var file *importer.Object
	var err error
	if i := bytes.IndexByte(call, '('); i > 0 && isName(bytes.TrimSpace(call[:i])) {
		var text []byte
		if text, err = parse(call); err != nil {
			return nil, err
		}
		if file, err = importer.Parse(text); err != nil {
			return nil, err
		}
		b.steps([]*importer.Object{file}, either)
		if err := b.end(file); err != nil {
			return nil, err
		}
	} else {
		if file, err = importer.ParseLiteral(data); err != nil {
			return nil, err
		}
		b.arguments(file)
		if err := file.Err("torchvision"); err != nil {
			return nil, err
		}
		b.finish("ImageClassification")
	}
	return importer.Finish("torchvision", b.Graph)
}

// arguments adds the steps of the preset whose arguments a JSON file has.
func (b *builder) arguments(file *importer.Object) {
	o := file.Object("torchvision")
	switch {
	case o != nil:
		b.classification(o)
	case file.Has("torchvision"):
		file.Bad("torchvision", "an object with the preset's arguments")
	default:
		file.Fail(importer.ErrMissing, "torchvision", "want an object with the preset's arguments, or transforms as Python prints them: Compose(…)")
	}
}
