// Package keras imports the arguments of keras.utils.load_img and of
// preprocess_input in keras.applications:
//
//	{"mode": "caffe", "size": [224, 224], "interpolation": "bilinear"}
//
// An object "keras" around them is optional. The keys are:
//
//   - mode: "tf" (-1 to 1), "torch" (0 to 1, then ImageNet's mean and
//     deviation), "caffe" (BGR minus ImageNet's mean) or null, for models whose
//     preprocess_input changes nothing (EfficientNet, ConvNeXt, MobileNetV3,
//     RegNet). Required, since the models of keras.applications differ.
//   - size, or target_size as in load_img: [height, width]. Null (default) is
//     the image's own size.
//   - interpolation: "nearest" (default), "bilinear", "bicubic", "hamming",
//     "box" or "lanczos".
//   - data_format: "channels_last" (default) or "channels_first". Keras itself
//     takes the default from its configuration file.
//   - color_mode: must be "rgb".
//   - keep_aspect_ratio: must be false.
//
// The defaults are those of load_img. Every key takes effect; others are
// errors.
//
// The reference is Keras 3.15.1 with Pillow 13.0.0:
// preprocess_input(img_to_array(load_img(path, target_size=size, …)),
// mode=mode) in NumPy. The output is the column image, float32, HWC unless
// channels_first.
package keras

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	importer.Register(importer.Importer{
		Name: "keras", Import: Import,
		Doc:    "load_img and preprocess_input arguments as JSON, as Keras 3.15.1 applies them",
		Detect: func(_ string, head []byte) bool { return importer.HasKey(head, "keras", "mode") },
	})
}

// interpolations maps load_img's names.
var interpolations = map[string]transforms.Interpolation{
	"nearest": transforms.Nearest, "bilinear": transforms.Bilinear, "bicubic": transforms.Bicubic,
	"hamming": transforms.Hamming, "box": transforms.Box, "lanczos": transforms.Lanczos,
}

// These are the constants of keras/src/applications/imagenet_utils.py.
var (
	torchMean = []float64{0.485, 0.456, 0.406}
	torchStd  = []float64{0.229, 0.224, 0.225}
	caffeMean = []float64{103.939, 116.779, 123.68} // for blue, green, red
)

// Import reads the arguments.
func Import(data []byte) (*datagraph.Graph, error) {
	file, err := importer.ParseLiteral(data)
	if err != nil {
		return nil, err
	}
	o := file
	if file.Has("keras") {
		if o = file.Object("keras"); o == nil {
			file.Bad("keras", "an object")
			return nil, file.Err("keras")
		}
	}
	g := build(o)
	if err := file.Err("keras"); err != nil {
		return nil, err
	}
	return importer.Finish("keras", g)
}

func build(o *importer.Object) *datagraph.Graph {
	d := transforms.NewDecode()
	g := datagraph.New(d)
	g.Reference = "keras 3.15.1 load_img, preprocess_input"
	interpolation := transforms.Nearest
	if o.Has("interpolation") {
		var ok bool
		if interpolation, ok = interpolations[o.String("interpolation")]; !ok {
			o.Bad("interpolation", "nearest, bilinear, bicubic, hamming, box or lanczos")
		}
	}
	if h, w := size(o); h > 0 {
		g.Add(&transforms.Resize{Fit: transforms.FitExact, Height: h, Width: w, Interpolation: interpolation, Backend: transforms.Pillow})
	}
	if o.Bool("keep_aspect_ratio", false) {
		o.Bad("keep_aspect_ratio", "false: Pillow's resize of a box takes in pixels around it, which no op here does")
	}
	if o.Has("color_mode") && o.String("color_mode") != "rgb" {
		o.Bad("color_mode", `"rgb"`)
	}
	const modes = `"tf", "torch", "caffe" or null`
	switch v, ok := o.Get("mode"); {
	case !ok:
		o.Fail(importer.ErrMissing, "mode", "want "+modes)
	case v == nil:
		g.Add(&transforms.Rescale{Scale: 1, Rule: transforms.RescaleMultiply})
	case v == "tf":
		g.Add(&transforms.Rescale{Scale: 127.5, Offset: -1, Rule: transforms.RescaleDivide})
	case v == "torch":
		g.Add(&transforms.Rescale{Scale: 255, Rule: transforms.RescaleDivide}).Add(transforms.NewNormalize(torchMean, torchStd))
	case v == "caffe":
		d.Color = codec.ToBGR // before the resize, which treats all channels alike
		g.Add(&transforms.Rescale{Scale: 1, Rule: transforms.RescaleMultiply}).Add(transforms.NewNormalize(caffeMean, []float64{1}))
	default:
		o.Bad("mode", modes)
	}
	switch o.String("data_format") {
	case "":
		if o.Has("data_format") && !o.Null("data_format") {
			o.Bad("data_format", `"channels_last" or "channels_first"`)
		}
	case "channels_last":
	case "channels_first":
		g.Add(transforms.NewHWC2CHW())
	default:
		o.Bad("data_format", `"channels_last" or "channels_first"`)
	}
	return g
}

// size returns the height and width, or 0 if the image keeps its own.
func size(o *importer.Object) (h, w int) {
	key := "size"
	if o.Has("target_size") {
		key = "target_size"
		if o.Has("size") {
			o.Bad("size", "none beside target_size")
		}
	}
	v, _ := o.Get(key)
	if v == nil {
		return 0, 0
	}
	l, ok := importer.Ints(v, 2, 1, importer.MaxSide)
	if !ok {
		o.Bad(key, "[height, width] or null")
		return 0, 0
	}
	return l[0], l[1]
}
