// Package ultralytics imports the letterbox of Ultralytics models, from its
// arguments as JSON, or from an exported model's metadata: metadata.yaml, or a
// JSON object or Python dict of the same:
//
//	{"ultralytics": {"imgsz": [640, 640], "stride": 32, "auto": false}}
//
// The object "ultralytics" around them is optional. Values may be strings, as
// in ONNX metadata_props ("imgsz": "[640, 640]").
//
// The reference is the predictor of ultralytics 8.4.190: LetterBox with OpenCV
// 5.0.0.93, RGB, channels first, and a float32 division by 255. The output is
// images, float32 CHW. The letterbox's scale and padding are side outputs.
//
// auto pads only to the next multiple of the stride. It is off by default, and
// on, as in the predictor, if the metadata's args say dynamic.
package ultralytics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// output names the graphs' output.
const output = "images"

func init() {
	importer.Register(importer.Importer{
		Name: "ultralytics", Import: Import,
		Doc: "an exported model's metadata.yaml, or LetterBox arguments as JSON, as ultralytics 8.4.190 applies them",
		Folder: func(read func(string) ([]byte, error)) (string, []byte, error) {
			const name = "metadata.yaml"
			data, err := read(name)
			if err != nil {
				err = fmt.Errorf("importer: ultralytics: %w: want %s", err, name)
			}
			return name, data, err
		},
	})
}

// inert lists the keys of an exported model's metadata that do not affect the
// letterbox.
var inert = []string{
	"description", "author", "version", "license", "docs", "date", "batch", "names", "head", "end2end",
	"kpt_shape", "kpt_names", "dla",
}

// inertArgs lists the export's arguments that do not affect the letterbox.
var inertArgs = []string{
	"batch", "data", "device", "format", "fraction", "imgsz", "int8", "iou", "conf", "max_det", "agnostic_nms",
	"keras", "name", "nms", "opset", "optimize", "simplify", "workspace", "split", "separate_outputs", "separate_batch",
}

// tasks lists the tasks whose predictors use the letterbox.
var tasks = map[string]bool{"detect": true, "segment": true, "pose": true, "obb": true, "semantic": true}

// interpolations lists OpenCV's numbers that Resize supports too.
var interpolations = []transforms.Interpolation{
	transforms.Nearest, transforms.Bilinear, transforms.Bicubic, transforms.Area, transforms.Lanczos,
}

const (
	defaultStride = 32
	defaultFill   = 114
)

// Import reads the letterbox's arguments or metadata.
func Import(data []byte) (*datagraph.Graph, error) {
	file, err := importer.ParseLiteral(data)
	if err != nil {
		text := bytes.TrimSpace(importer.Text(data))
		// A damaged JSON object is not YAML, nor is a second byte order mark,
		// which YAML's reader would skip.
		if bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("\ufeff")) {
			return nil, err
		}
		text, yerr := yamlJSON(text)
		if errors.Is(yerr, errSize) {
			return nil, fmt.Errorf("importer: ultralytics: %w", &importer.Error{Kind: importer.ErrValue, Text: yerr.Error()})
		}
		if yerr != nil {
			return nil, err
		}
		if file, err = importer.Parse(text); err != nil {
			return nil, err
		}
	}
	o := file
	if file.Has("ultralytics") {
		if o = file.Object("ultralytics"); o == nil {
			file.Bad("ultralytics", "an object")
			return nil, file.Err("ultralytics")
		}
	}
	g := build(o)
	if err := file.Err("ultralytics"); err != nil {
		return nil, err
	}
	return importer.Finish("ultralytics", g)
}

func build(o *importer.Object) *datagraph.Graph {
	o.Inert(inert...)
	if t := o.String("task"); t == "classify" {
		o.Bad("task", "one that letterboxes; a classifier's transform is torchvision's, with mean 0, std 1 and imgsz as resize_size and crop_size")
	} else if t != "" && !tasks[t] {
		o.Bad("task", "detect, segment, pose, obb or semantic")
	}
	if n, ok := importer.Int(value(o, "channels"), 3, 3); o.Has("channels") && (!ok || n != 3) {
		o.Bad("channels", "3")
	}
	l := transforms.NewLetterbox(imageSize(o))
	l.Stride = side(o, "stride", defaultStride)
	l.Auto = toggle(o, "auto", dynamic(o))
	l.ScaleFill = toggle(o, "scale_fill", false)
	l.NoScaleUp = !toggle(o, "scaleup", true)
	l.TopLeft = !toggle(o, "center", true)
	fill := defaultFill
	if o.Has("padding_value") {
		var ok bool
		if fill, ok = importer.Int(value(o, "padding_value"), 0, 255); !ok {
			o.Bad("padding_value", "a whole number of 0 to 255")
		}
	}
	l.Fill = []float64{float64(fill)}
	if o.Has("interpolation") {
		n, ok := importer.Int(value(o, "interpolation"), 0, len(interpolations)-1)
		if !ok {
			o.Bad("interpolation", "an OpenCV number: 0 nearest, 1 linear, 2 cubic, 3 area, 4 lanczos4")
		}
		l.Interpolation = interpolations[max(0, min(n, len(interpolations)-1))]
	}
	g := datagraph.New(transforms.NewDecode(), l, &transforms.Rescale{Scale: 255, Rule: transforms.RescaleDivide}, transforms.NewHWC2CHW())
	g.Reference = "ultralytics 8.4.190 LetterBox"
	return g.Rename(output)
}

// value returns the key's value. A string that contains a literal of JSON or
// Python is parsed.
func value(o *importer.Object, key string) any {
	v, _ := o.Get(key)
	if s, ok := v.(string); ok {
		if p, err := importer.ParseLiteralValue([]byte(s)); err == nil {
			return p
		}
	}
	return v
}

// imageSize returns the height and width in imgsz.
func imageSize(o *importer.Object) (h, w int) {
	v := value(o, "imgsz")
	if n, ok := importer.Int(v, 1, importer.MaxSide); ok {
		return n, n
	}
	if l, ok := importer.Ints(v, 2, 1, importer.MaxSide); ok {
		return l[0], l[1]
	}
	if !o.Has("imgsz") {
		o.Fail(importer.ErrMissing, "imgsz", "want [height, width]")
	} else {
		o.Bad("imgsz", fmt.Sprintf("[height, width] or one whole number, of 1 to %d", importer.MaxSide))
	}
	return 1, 1
}

func side(o *importer.Object, key string, def int) int {
	v := value(o, key)
	if !o.Has(key) {
		return def
	}
	// Old exports stored strides as floats.
	if f, ok := importer.Float(v); ok && f == float64(int(f)) {
		v = json.Number(fmt.Sprint(int(f)))
	}
	n, ok := importer.Int(v, 1, importer.MaxSide)
	if !ok {
		o.Bad(key, fmt.Sprintf("a whole number of 1 to %d", importer.MaxSide))
		return def
	}
	return n
}

func toggle(o *importer.Object, key string, def bool) bool {
	v := value(o, key)
	if !o.Has(key) {
		return def
	}
	b, ok := v.(bool)
	if !ok {
		o.Bad(key, "true or false")
	}
	return b
}

// dynamic reads dynamic from the metadata's args. It rejects a half-precision
// export, which takes another tensor type.
func dynamic(o *importer.Object) bool {
	v, _ := o.Get("args")
	args := o
	switch a := v.(type) {
	case nil:
		return toggle(o, "dynamic", false)
	case *importer.Object:
		args = o.Object("args")
	case string:
		var err error
		if args, err = o.Embed("args", []byte(a)); err != nil {
			o.Bad("args", "an object or a Python dict of the export's arguments")
			return false
		}
	default:
		o.Bad("args", "an object")
		return false
	}
	args.Inert(inertArgs...)
	const want = "a full-precision export: half precision takes a float16 tensor"
	if args.Has("half") && toggle(args, "half", false) {
		args.Bad("half", want)
	}
	switch q := value(args, "quantize"); fmt.Sprint(q) {
	case "<nil>", "32", "8", "w8a32": // the input is float32
	default:
		args.Bad("quantize", want)
	}
	return toggle(o, "dynamic", toggle(args, "dynamic", false))
}
