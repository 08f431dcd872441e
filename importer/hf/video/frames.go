package video

import (
	"encoding/json"
	"fmt"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/tensor"
)

// frames describes a class that treats each frame by itself, with the code that
// CLIP's image processor has, too.
type frames struct {
	output string
	// defaults are the class's values of pixelKeys, as JSON.
	defaults string
	// change rewrites the settings as the class's constructor does; it may be
	// nil. o has the file's values.
	change func(o *importer.Object, settings map[string]json.RawMessage)
}

const (
	clip     = `"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711], `
	halves   = `"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], `
	imagenet = `"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], `
	bilinear = `"resample": 2, `
	bicubic  = `"resample": 3, `
	cropped  = `"do_center_crop": true, "default_to_square": false, "size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}`
	// Vivit rescales by the code of EfficientNet: it subtracts 1 afterwards.
	vivit = `"image_processor_type": "EfficientNetImageProcessor", "rescale_offset": true, "include_top": false, "rescale_factor": 0.00784313725490196, ` +
		`"do_center_crop": true, "default_to_square": false, "size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}`
)

func init() {
	const output = "pixel_values_videos"
	all := byDefault(0, 0)
	define(
		class{name: "InstructBlipVideo", sampler: all, layout: frames{output: "pixel_values", defaults: clip + bicubic + `"size": {"height": 384, "width": 384}`}.layout},
		class{name: "InternVL", sampler: readInternVL, layout: frames{output: output, defaults: clip + bicubic + `"size": {"height": 384, "width": 384}`}.layout},
		class{name: "LlavaNextVideo", sampler: all, layout: frames{output: output, defaults: clip + bicubic + cropped}.layout},
		class{name: "LlavaOnevision", sampler: all, layout: frames{output: output, defaults: clip + bicubic + `"default_to_square": false, "size": {"height": 384, "width": 384}`}.layout},
		class{name: "PerceptionLM", sampler: all, layout: frames{output: output, defaults: halves + bicubic + `"size": {"height": 448, "width": 448}`}.layout},
		class{name: "Timesformer", sampler: all, layout: frames{output: "pixel_values", defaults: imagenet + bilinear + cropped}.layout},
		class{name: "VJEPA2", sampler: all, layout: frames{output: output, defaults: imagenet + bilinear + `"do_center_crop": true, "crop_size": 256`, change: vjepa2}.layout},
		class{name: "Vivit", sampler: all, layout: frames{output: "pixel_values", defaults: halves + bilinear + vivit}.layout},
		class{name: "VideoLlava", sampler: all, layout: frames{output: output, defaults: clip + bicubic + cropped}.layout},
		class{name: "VideoMAE", sampler: all, layout: frames{output: "pixel_values", defaults: halves + bilinear + cropped}.layout},
		class{name: "Videomt", sampler: all, layout: frames{output: output, defaults: imagenet + bilinear + `"size": {"height": 640, "width": 640}`}.layout},
	)
}

// pixelKeys are the settings that these classes share with CLIP's image
// processor, whose code they run for each frame.
var pixelKeys = []string{
	"do_resize", "size", "default_to_square", "resample", "do_center_crop", "crop_size",
	"do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std", "data_format", "device",
}

// inert lists keys without influence on pixels: names of classes and versions,
// the conversion of three channels to RGB, the padding that these classes
// ignore, and what a caller passes.
var inert = []string{
	"video_processor_type", "image_processor_type", "feature_extractor_type", "processor_class", "transformers_version",
	"auto_map", "do_convert_rgb", "do_pad", "return_metadata", "return_tensors", "_valid_kwargs_names", "_valid_processor_keys",
}

// vjepa2 sets the size as the constructor does, whatever size says.
func vjepa2(o *importer.Object, settings map[string]json.RawMessage) {
	const want = "a whole number, or an object with height"
	v, ok := o.Get("crop_size")
	if d, isObject := v.(*importer.Object); isObject {
		v = d.Peek("height")
	} else if !ok {
		v = json.Number("256")
	}
	n, ok := importer.Int(v, 1, importer.MaxSide/2)
	if !ok {
		o.Bad("crop_size", want)
		return
	}
	settings["size"] = json.RawMessage(fmt.Sprintf(`{"shortest_edge": %d}`, int(float64(n)*256/224)))
}

// layout returns the layout of a class, whose result is a stack of frames.
func (f frames) layout(c class, o *importer.Object, data []byte) (layout, error) {
	settings, err := pixelSettings(o, f.defaults, data)
	if err != nil {
		return nil, err
	}
	if f.change != nil {
		f.change(o, settings)
	}
	g, err := frameGraph(c, settings)
	return &stack{f.output, g}, err
}

// stack is a layout T, C, H, W.
type stack struct {
	output string
	g      *datagraph.Graph
}

func (s *stack) outputs() []Output { return []Output{{Name: s.output}} }

func (s *stack) graph(int, int, int) (*datagraph.Graph, error) { return s.g, nil }

func (s *stack) plan(frames int, d tensor.Desc) (tensor.Desc, int, error) {
	d.Layout = tensor.NoLayout
	d.Shape = tensor.Dims(append([]int{frames}, d.Shape.Slice()...)...)
	return d, frames, nil
}

func (s *stack) place(dst []byte, frame *tensor.Tensor, t int) {
	copy(dst[t*len(frame.Data):], frame.Data)
}

func (s *stack) more(filled) ([]*tensor.Tensor, error) { return nil, nil }

// pixelSettings returns the file's values of pixelKeys, and the defaults of
// others. The values are those of CLIP's image processor.
func pixelSettings(o *importer.Object, defaults string, data []byte) (map[string]json.RawMessage, error) {
	o.Inert(pixelKeys...)
	o.Inert(inert...)
	if v, _ := o.Get("video_metadata"); v != nil {
		o.Bad("video_metadata", "null: it describes the call")
	}
	if v, _ := o.Get("input_data_format"); v != nil && v != "channels_last" {
		o.Bad("input_data_format", `null or "channels_last", which frames are`)
	}
	const common = `"do_resize": true, "do_rescale": true, "do_normalize": true, "do_center_crop": false, "default_to_square": true, "crop_size": null, `
	settings := map[string]json.RawMessage{}
	for _, text := range []string{common + `"image_processor_type": "CLIPImageProcessor", "do_convert_rgb": false, "do_pad": false`, defaults} {
		if err := json.Unmarshal([]byte("{"+text+"}"), &settings); err != nil {
			return nil, fmt.Errorf("video: defaults: %w", err)
		}
	}
	given, err := rawKeys(data)
	if err != nil {
		return nil, err
	}
	for _, key := range pixelKeys {
		if v, ok := given[key]; ok {
			settings[key] = v
		}
	}
	return settings, nil
}

// frameGraph returns the graph of one frame, whose output has the axes C, H, W.
func frameGraph(c class, settings map[string]json.RawMessage) (*datagraph.Graph, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("video: settings of %s: %w", c.name, err)
	}
	g, err := hf.Import(text)
	if err != nil {
		return nil, fmt.Errorf("video: frames of %s: %w", c.name+suffix, err)
	}
	g.Reference = "transformers " + hf.Version + " " + c.name + suffix + ", one frame"
	return g, nil
}

// rawKeys returns the values of the file's keys, or of its video_processor's.
func rawKeys(data []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(importer.Text(data), &m); err != nil {
		return nil, fmt.Errorf("importer: hf/video: %w", &importer.Error{Kind: importer.ErrJSON, Text: err.Error()})
	}
	if v, ok := m["video_processor"]; ok {
		m = nil
		if err := json.Unmarshal(v, &m); err != nil {
			return nil, fmt.Errorf("importer: hf/video: %w", &importer.Error{Kind: importer.ErrJSON, Path: "video_processor", Text: err.Error()})
		}
	}
	return m, nil
}
