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
// PNG, WebP and GIF. Its graph decodes BMP and TIFF, too, as Pillow does. It
// refuses files of which the tensor has another type, shape or colour than
// Pillow's image: 16-bit PNG (uint16), files of several frames (GIF has an axis
// for them, WebP is an error; of APNG the tensor would be equal), and GIF whose
// first frame has a transparent colour or is unlike its screen.
//
// ImportTensor16 takes the uint16 tensors of 16-bit PNG and refuses all other
// files, and those with alpha. Before a conversion the transforms may be
// CenterCrop, Pad, and Resize by nearest, nearest-exact and bilinear, which
// torchvision computes in float32 and truncates. Half precision is refused.
//
// # What Python does not print
//
// A print lacks what torchvision's classes do not print. If that can change the
// bytes, the importer refuses the print with importer.ErrMissing. Its error
// names the argument, which may be added to the text in Python's form,
// NAME=VALUE. Source has it, or has the default of torchvision 0.29.2. These
// are
//
//   - dtype of ToDtype and ConvertImageDtype, which no version prints: any type
//     may stand there, and each has other bytes.
//   - antialias of Resize for tensors, if the filter is bilinear, bicubic or
//     lanczos: v2 does not print None, and v1 of old versions printed none.
//     Presets never print theirs: it was None before torchvision 0.17 and
//     is True since, and weights' transforms(antialias=…) sets it.
//   - fill of Pad with constant borders: v2 prints neither None nor a dict of
//     fills by type.
//   - numbers of a torch tensor (four digits) or of a NumPy array (eight).
//   - what a Python function does, alone or in Lambda. Those of CLIP and
//     OpenCLIP, _convert_image_to_rgb and _convert_to_rgb, are known to call
//     convert("RGB"). After other steps they mean that the program did not
//     convert the image before; the graph then refuses files that Pillow would
//     not scale as RGB: with alpha, a palette, 16 bits or 1 bit, and CMYK. v2's
//     RGB is treated alike, also after ToImage.
//
// These cannot change the bytes, and are ignored:
//
//   - antialias of Pillow images, which Pillow always antialiases, and of
//     nearest and nearest-exact, which never are. The value warn, a default of
//     torchvision 0.15 and 0.16, means None there.
//   - fill of Pad with other borders.
//   - inplace of Normalize, which v1 does not print: it says where the result
//     is stored.
//   - max_size of v2's Resize if None, which v2 does not print; it prints every
//     number of Python;
//   - dtype of v2's ToDtype and ConvertImageDtype for Pillow images, which they
//     return as they are.
//
// A transform that v1 and v2 print alike is taken to be of the version of its
// Compose. If a Compose of v2 has transforms that only v1 prints so, those
// whose bytes differ between the versions are errors.
//
// ToTensor obeys torch.set_default_dtype, which no text has: the reference is
// torch as it starts, with float32.
//
// torch.float16 and torch.bfloat16 are computed as torch does, in float32 that
// is rounded at the end; transforms after them are errors, except conversions.
// Random transforms are errors. The output is the column image, CHW, since
// torchvision does not name it.
package torchvision

import (
	"bytes"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	importer.Register(importer.Importer{
		Name: "torchvision", Import: Import,
		Doc:      "torchvision's transforms as Python prints them, or the arguments of its ImageClassification preset as JSON, as torchvision 0.29.2 applies them to a Pillow image, or with --backend tensor to a uint8 tensor, tensor16 to one of uint16",
		Detect:   detect,
		Backends: map[string]func([]byte) (*datagraph.Graph, error){"pil": Import, "tensor": ImportTensor, "tensor16": ImportTensor16},
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
func Import(data []byte) (*datagraph.Graph, error) { return load(data, fromPillow) }

// ImportTensor reads transforms that are applied to a uint8 tensor, as
// torchvision's decode_image returns it.
func ImportTensor(data []byte) (*datagraph.Graph, error) { return load(data, fromTensor) }

// ImportTensor16 reads transforms that are applied to a uint16 tensor, as
// torchvision's decode_image returns a 16-bit PNG for mode RGB.
func ImportTensor16(data []byte) (*datagraph.Graph, error) { return load(data, fromTensor16) }

// start is what the reference starts with.
type start uint8

const (
	fromPillow   start = iota
	fromTensor         // of uint8
	fromTensor16       // of uint16
)

func load(data []byte, from start) (*datagraph.Graph, error) {
	if g, ok, err := importSource(data, from); ok {
		return g, err
	}
	call := importer.Text(data)
	b := &builder{Graph: datagraph.New(transforms.NewDecode()), fromTensor: from != fromPillow, tensor: from != fromPillow, dtype: tensor.Uint8}
	if from == fromTensor16 {
		b.dtype = tensor.Uint16
		b.Steps[0].Op = &transforms.DecodeNative{DType: tensor.Uint16, Channels: 3, Expand: true}
	}
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
		b.preset(file)
		if err := file.Err("torchvision"); err != nil {
			return nil, err
		}
		b.finish("ImageClassification")
	}
	return importer.Finish("torchvision", b.Graph)
}

// preset adds the steps of the preset whose arguments a JSON file has.
func (b *builder) preset(file *importer.Object) {
	b.arguments = true
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
