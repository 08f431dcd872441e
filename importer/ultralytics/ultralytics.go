// Package ultralytics imports the letterbox of Ultralytics models, from its
// arguments or from an exported model's metadata as a JSON object:
//
//	{"ultralytics": {"imgsz": [640, 640], "stride": 32, "auto": false}}
//
// The object "ultralytics" around them is optional. Values may be strings, as
// in ONNX metadata_props ("imgsz": "[640, 640]"). The importer does not read
// YAML: convert metadata.yaml to JSON.
//
// The reference is the predictor of ultralytics 8.4.190: LetterBox with OpenCV
// 5.0.0.93, RGB, channels first, and a float32 division by 255. The output is
// images, float32 CHW. The letterbox's scale and padding are side outputs.
//
// auto pads only to the next multiple of the stride. It is off by default, and
// on, as in the predictor, if the metadata's args say dynamic.
package ultralytics

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

// output names the graphs' output.
const output = "images"

func init() {
	importer.Register(importer.Importer{
		Name: "ultralytics", Import: Import,
		Doc: "LetterBox arguments or a model's metadata as JSON, as ultralytics 8.4.190 applies them",
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
	file, err := importer.Parse(data)
	if err != nil {
		return nil, err
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

// value returns the key's value. A string that contains JSON is parsed; most of
// Python's literals are JSON too.
func value(o *importer.Object, key string) any {
	v, _ := o.Get(key)
	s, ok := v.(string)
	if !ok {
		return v
	}
	switch s = strings.TrimSpace(s); s {
	case "True":
		return true
	case "False":
		return false
	case "None":
		return nil
	}
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") { // a tuple
		s = "[" + strings.TrimSuffix(s[1:len(s)-1], ",") + "]"
	}
	p, err := importer.ParseValue([]byte(s))
	if err != nil {
		return v
	}
	return p
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
		b, err := literal(a)
		if err == nil {
			args, err = o.Embed("args", b)
		}
		if err != nil {
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

// literal converts a literal of Python's str(dict) to JSON.
func literal(s string) ([]byte, error) {
	var b []byte
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"':
			n, text, err := quoted(s[i:])
			if err != nil {
				return nil, err
			}
			q, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			b, i = append(b, q...), i+n
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			n := i
			for n < len(s) && (s[n] >= 'A' && s[n] <= 'Z' || s[n] >= 'a' && s[n] <= 'z') {
				n++
			}
			word, ok := map[string]string{"True": "true", "False": "false", "None": "null", "e": "e"}[s[i:n]]
			if !ok {
				return nil, fmt.Errorf("%q is no literal", s[i:n])
			}
			b, i = append(b, word...), n
		case c == '(':
			b, i = append(b, '['), i+1
		case c == ')':
			b, i = append(b, ']'), i+1
		default:
			b, i = append(b, c), i+1
		}
	}
	return b, nil
}

// quoted reads the Python string at the start of s. It returns the string and
// its length in s.
func quoted(s string) (int, string, error) {
	var text []byte
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i + 1, string(text), nil
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`\'"`, s[i+1]) >= 0:
			i++
			text = append(text, s[i])
		case s[i] == '\\':
			return 0, "", fmt.Errorf("escape %q", s[i:min(i+2, len(s))])
		default:
			text = append(text, s[i])
		}
	}
	return 0, "", fmt.Errorf("a string without end")
}
