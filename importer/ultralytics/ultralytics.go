// Package ultralytics imports the letterbox of Ultralytics models, from its
// arguments as JSON, or from an exported model's metadata: metadata.yaml, or a
// JSON object or Python dict of the same:
//
//	{"ultralytics": {"imgsz": [640, 640], "stride": 32, "auto": false}}
//
// The object "ultralytics" around them is optional. Values may be strings, as
// in ONNX metadata_props ("imgsz": "[640, 640]").
//
// The reference is the predictor of ultralytics 8.4.190: its reader, LetterBox
// with OpenCV 5.0.0.93, RGB, channels first, and a float32 division by 255. The
// output is images, float32 CHW, as the predictor hands it to the backend. The
// letterbox's scale and padding are side outputs.
//
// # Reader
//
// The predictor reads files with cv2.imdecode. Graphs decode as it does: the
// EXIF orientation is applied, 16-bit gray keeps its high byte, alpha is
// dropped, and a JPEG that ends early is refused. CMYK, TIFF that is turned,
// with alpha or with 16 bits of colour, animated PNG, and what else
// codec.DamageImdecode names are refused, because OpenCV makes other pixels.
// The predictor takes a GIF for a video; a graph decodes the plain ones.
//
// # Metadata
//
// A file is metadata if it has a key that only an exporter writes, such as task
// or names. What the predictor then needs must be in it:
//
//   - imgsz: multiples of the stride, to which the predictor rounds up. With
//     dynamic in args it must be 640, or auto must be there, because the
//     predictor takes the size from its own argument.
//   - task: classify is refused, since its transform is torchvision's. depth
//     stretches the image. The other tasks letterbox it.
//   - head: RTDETRDecoder stretches; other heads do not. Exporters up to 8.4.60
//     at least wrote none. Then task must not be detect, or the description
//     must name a model of Ultralytics: "Ultralytics YOLO11n model".
//   - args: dynamic turns auto on, unless the image is stretched; half and
//     quantize 16 are refused, since they may take another tensor type.
//     Exporters up to 8.3.0 at least wrote none. Then auto must be there.
//   - channels: 3, the default. Other models read other pixels.
//   - stride: default 32, as in the predictor.
//
// LetterBox's own arguments beside them take precedence: auto, scale_fill,
// scaleup, center, padding_value, interpolation.
//
// These keys are inert. description, author, version, license, docs and date
// are texts, but for the description's name above. batch bounds how many images
// the backend takes at a time. names, kpt_shape, kpt_names and end2end describe
// the output. dla chooses hardware. Of args, these choose how the model is
// compiled or what it returns: batch, device, format, keras, name, opset,
// optimize, simplify, workspace, split, separate_outputs, separate_batch, nms,
// iou, conf, max_det, agnostic_nms. data and fraction choose images for
// calibration. int8 and quantize 8 leave the predictor's tensor float32. imgsz
// in args is that of the metadata.
//
// auto pads only to the next multiple of the stride. It is off by default, and
// on, as in the predictor, if the metadata's args say dynamic.
package ultralytics

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/transforms"
)

// output names the graphs' output.
const output = "images"

func init() {
	importer.Register(importer.Importer{
		Name: "ultralytics", Import: Import,
		Doc:    "an exported model's metadata.yaml, or LetterBox arguments as JSON, as ultralytics 8.4.190 applies them",
		Detect: detect,
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

// detect finds the object of arguments, or metadata as YAML, JSON or a dict.
func detect(base string, head []byte) bool {
	if base == "metadata.yaml" || importer.HasKey(head, "ultralytics") {
		return true
	}
	if importer.HasKey(head, "stride") && importer.HasKey(head, "imgsz") {
		return true
	}
	head = append([]byte("\n"), importer.Text(head)...)
	return bytes.Contains(head, []byte("\nstride:")) && bytes.Contains(head, []byte("\nimgsz:"))
}

// inert lists the keys of an exported model's metadata that do not affect the
// letterbox; see the package's documentation.
var inert = []string{
	"author", "version", "license", "docs", "date", "batch", "names", "end2end", "kpt_shape", "kpt_names", "dla",
}

// exported lists the keys that make a file metadata, with those of inert.
var exported = []string{"description", "task", "head", "args", "channels"}

// official matches the descriptions of exporters of Ultralytics' own detection
// models, all of which letterbox.
var official = lazyregexp.New(`^Ultralytics YOLO(v[35-9]|v10|11|12|26)[a-z]{0,2}6?u?(-(tinyu?|sppu?|p2|p6|world|worldv2|oiv7))? model\b`)

// inertArgs lists the export's arguments that do not affect the letterbox.
var inertArgs = []string{
	"batch", "data", "device", "format", "fraction", "imgsz", "int8", "iou", "conf", "max_det", "agnostic_nms",
	"keras", "name", "nms", "opset", "optimize", "simplify", "workspace", "split", "separate_outputs", "separate_batch",
}

// tasks lists the tasks whose predictors use LetterBox, and whether they
// stretch the image.
var tasks = map[string]bool{"detect": false, "segment": false, "pose": false, "obb": false, "semantic": false, "depth": true}

// interpolations lists OpenCV's numbers that Resize supports too.
var interpolations = []transforms.Interpolation{
	transforms.Nearest, transforms.Bilinear, transforms.Bicubic, transforms.Area, transforms.Lanczos,
}

const (
	defaultStride = 32
	defaultFill   = 114
	predictSize   = 640 // of the predictor's own imgsz
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
	metadata := slices.ContainsFunc(exported, o.Has) || slices.ContainsFunc(inert, o.Has)
	o.Inert(inert...)
	stretch := metadata && stretches(o)
	if n, ok := importer.Int(value(o, "channels"), 3, 3); o.Has("channels") && (!ok || n != 3) {
		o.Bad("channels", "3: other models read other pixels")
	}
	l := transforms.NewLetterbox(imageSize(o))
	l.Stride = side(o, "stride", defaultStride)
	if metadata && (l.Height%l.Stride != 0 || l.Width%l.Stride != 0) {
		o.Bad("imgsz", fmt.Sprintf("multiples of the stride %d, to which the predictor rounds up", l.Stride))
	}
	dynamic := dynamic(o)
	switch {
	case metadata && !o.Has("args") && !o.Has("auto"):
		o.Fail(importer.ErrMissing, "args", `want the export's arguments, at least {"dynamic": false, "half": false}, or LetterBox's auto: this metadata does not say whether the model is dynamic`)
	case dynamic && !o.Has("auto") && (l.Height != predictSize || l.Width != predictSize):
		o.Bad("imgsz", fmt.Sprintf("%d: for a dynamic model the predictor takes its own argument, %[1]d by default, not this one; if yours is the same, add auto: %t", predictSize, !stretch))
	}
	l.Auto = toggle(o, "auto", dynamic && !stretch)
	if l.Auto && stretch {
		o.Bad("auto", "false: this model's predictor stretches")
	}
	l.ScaleFill = toggle(o, "scale_fill", stretch)
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
	d := transforms.NewDecode()
	d.Orientation, d.Gray16 = codec.OrientationApply, codec.Gray16High
	d.Refuse, d.Damage = codec.RefuseCMYK, codec.DamageImdecode
	g := datagraph.New(d, l, &transforms.Rescale{Scale: 255, Rule: transforms.RescaleDivide}, transforms.NewHWC2CHW())
	g.Reference = "ultralytics 8.4.190 imread, LetterBox"
	return g.Rename(output)
}

// stretches reads what chooses the predictor. It reports whether that stretches
// the image in place of letterboxing it.
func stretches(o *importer.Object) bool {
	const want = "detect, segment, pose, obb, semantic or depth"
	task, head, description := o.String("task"), o.String("head"), o.String("description")
	stretch, known := tasks[task]
	switch {
	case task == "classify" || head == "Classify":
		o.Bad("task", "one that uses LetterBox; a classifier's transform is torchvision's (--torchvision), with mean 0, std 1, imgsz as resize_size and crop_size, and the EXIF orientation")
	case task == "" && o.Has("task"), task != "" && !known:
		o.Bad("task", want)
	case strings.Contains(head, "RTDETR"):
		if task != "" && task != "detect" {
			o.Bad("task", "detect, with this head")
		}
		return true
	case task == "":
		o.Fail(importer.ErrMissing, "task", "want "+want)
	case head == "" && task == "detect" && !official().MatchString(description):
		o.Fail(importer.ErrMissing, "head", `want Detect, whose predictor letterboxes, or RTDETRDecoder, whose predictor stretches: this metadata does not say which`)
	}
	return stretch
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
// export, which may take another tensor type.
func dynamic(o *importer.Object) bool {
	v, _ := o.Get("args")
	var args *importer.Object
	switch a := v.(type) {
	case nil:
		if o.Has("args") {
			o.Bad("args", "an object")
		}
		return false
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
	const want = "a full-precision export: half precision may take a float16 tensor"
	if args.Has("half") && toggle(args, "half", false) {
		args.Bad("half", want)
	}
	switch q := value(args, "quantize"); fmt.Sprint(q) {
	case "<nil>", "32", "8", "w8a32": // the input is float32
	default:
		args.Bad("quantize", want)
	}
	return toggle(args, "dynamic", false)
}
