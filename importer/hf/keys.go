package hf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// inert lists keys without influence on pixel_values: names of classes,
// settings of other backends, of segmentation maps and of OCR, and state that
// older versions stored.
var inert = []string{
	"processor_class", "image_processor_type", "feature_extractor_type", "format", "transformers_version",
	"_valid_processor_keys", "_valid_kwargs_names",
	"do_reduce_labels", "reduce_labels", "ocr_lang", "tesseract_config",
	"return_tensors", "disable_grouping", "input_data_format", "image_seq_length",
}

// unread lists keys of real files that describe something else than pixels:
// where the file comes from, the model, its tokens, and the audio, video or
// masks that other code makes. They are accepted in files of classes that do
// not read them. testdata/keys.json names the files that have them, and
// parity/keys.py runs every class of transformers with them.
var unread = []string{
	"auto_map", "_name_or_path", "_class_name", "_diffusers_version", "architectures", "model_type", "num_channels",
	"id2label", "label2id", "torch_dtype", "use_fast", "version", "train", "align", "ignore_index", "hidden_stride", "resize_policy",
	"size_divisibility", "image_feature_size", "image_token", "video_token", "audio_token", "num_img_tokens",
	"num_image_tokens", "num_audio_tokens", "im_start", "im_end", "im_id_start", "im_id_end", "slice_start", "slice_end", "unk",
	"use_image_id", "image_padding_mask", "return_attention_mask", "return_metadata", "video_metadata", "do_sample_frames", "fps",
	"max_frames", "min_frames", "num_frames", "chunk_length", "dither", "feature_size", "frame_length", "frame_shift", "hop_length",
	"n_fft", "n_samples", "nb_max_frames", "padding_side", "sampling_rate", "wav_frontend_args", "whisper_frontend_args",
	"mask_threshold", "n_layers", "overlap_ratio", "points_per_crop", "scale_per_layer", "target_size",
	"amg_box_nms_thresh", "amg_pred_iou_thresh", "amg_stability_score_offset", "amg_stability_score_thresh",
}

// readsKey reports whether the code of a class reads a key, in any backend.
func readsKey(class, key string) bool {
	return slices.Contains(strings.Fields(common), key) || slices.Contains(strings.Fields(reads[class]), key)
}

// accept marks the keys that a class does not read and that are known to be
// about something else, and explains the others.
func accept(o *importer.Object, class string, s *settings) {
	for _, k := range unread {
		if o.Has(k) && !readsKey(class, k) && !isFormer(class, k) {
			o.Inert(k)
		}
	}
	notes := acceptFormer(o, class, s)
	o.KnownKeys(func(key string) bool { return readsKey(class, key) })
	o.ExplainUnknown(func(key string) string {
		how := fmt.Sprintf("; --ignore-key %s imports the file without it", key)
		name := class + suffix + " of transformers " + Version
		if key == "backend" {
			return "transformers refuses a file with this key: --backend chooses the backend" + how
		}
		if note := notes[key]; note != "" {
			return name + " does not read it, but " + note + how
		}
		if readsKey(class, key) {
			return "it may change pixels, since the code of " + name + " has this name" + how
		}
		also := ""
		for _, c := range slices.Sorted(maps.Keys(reads)) {
			if readsKey(c, key) {
				also = " (" + c + suffix + " reads it)"
				break
			}
		}
		return "it changes no pixel, since " + name + " does not read it" + also + how
	})
}

// printed matches the start of a processor as Python prints it.
var printed = lazyregexp.New(`^\s*(?:- image_processor: )?\w+ImageProcessor(?:Pil|Fast)?\s*\{`)

// parse reads a preprocessor_config.json, a processor_config.json with a nested
// image_processor, or an image processor as Python prints it. file has the
// problems of o.
func parse(data []byte) (file, o *importer.Object, err error) {
	if text := importer.Text(data); printed().Match(text) {
		data = text[bytes.IndexByte(text, '{'):]
	}
	if file, err = importer.Parse(data); err != nil {
		return nil, nil, err
	}
	if !file.Has("image_processor") || file.Null("image_processor") {
		return file, file, nil
	}
	file.InertAll() // of other processors
	for _, key := range []string{"image_processor_type", "feature_extractor_type"} {
		if file.Has(key) && !file.Null(key) {
			file.Bad(key, "none beside image_processor: transformers reads the inner keys of a processor_config.json, and the outer ones of a preprocessor_config.json")
		}
	}
	if o = file.Object("image_processor"); o == nil {
		return nil, nil, file.Err("hf")
	}
	return file, o, nil
}

// ownCode reports whether the file names code of the model's own for images.
func ownCode(o *importer.Object) bool {
	v, _ := o.Get("auto_map")
	m, ok := v.(*importer.Object)
	return ok && m.Has("AutoImageProcessor") && !m.Null("AutoImageProcessor")
}

// The files of a model's folder.
const (
	configName       = "config.json"
	processorName    = "processor_config.json"
	preprocessorName = "preprocessor_config.json"
)

// typed is the part of a file that names its class.
type typed struct {
	ImageProcessor       json.RawMessage `json:"image_processor"`
	FeatureExtractor     json.RawMessage `json:"feature_extractor"`
	ImageProcessorType   any             `json:"image_processor_type"`
	FeatureExtractorType any             `json:"feature_extractor_type"`
	ModelType            string          `json:"model_type"`
	PretrainedCfg        json.RawMessage `json:"pretrained_cfg"`
}

// folder chooses the files of a model's folder as AutoImageProcessor does: the
// image_processor of processor_config.json, else preprocessor_config.json. If
// the class is missing, config.json names it, by model_type if need be. Before
// preprocessor_config.json comes a config.json that is timm's.
func folder(read func(string) ([]byte, error)) (string, []byte, error) {
	var t typed
	name := processorName
	data, err := read(name)
	if err == nil {
		err = json.Unmarshal(importer.Text(data), &t) // an invalid one has no image_processor
		if none := bytes.Equal(t.ImageProcessor, []byte("null")); err != nil || len(t.ImageProcessor) == 0 || none {
			if soundFile(t.FeatureExtractor) && !namesImage(read) {
				return name, data, nil
			}
			err = fs.ErrNotExist
		} else {
			inner := typed{}
			_ = json.Unmarshal(t.ImageProcessor, &inner) // Import reports what is invalid
			t = inner
		}
	}
	var model typed
	config, cerr := read(configName)
	if cerr == nil {
		_ = json.Unmarshal(importer.Text(config), &model)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if len(model.PretrainedCfg) > 0 { // is_timm_local_checkpoint
			return configName, config, nil
		}
		t, name = typed{}, preprocessorName
		if data, err = read(name); err == nil {
			_ = json.Unmarshal(importer.Text(data), &t)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("importer: hf: %w: want %s, or %s with an image_processor", err, preprocessorName, processorName)
	case err != nil || t.ImageProcessorType != nil || t.FeatureExtractorType != nil:
		return name, data, err
	}
	class, _ := model.ImageProcessorType.(string)
	if c := models[model.ModelType]; class == "" && c != "" {
		class = c + suffix
	}
	key := "image_processor_type"
	if class == "" {
		if key, class = "feature_extractor_type", soundModels[model.ModelType]; class == "" {
			return name, data, nil // Import says what is missing
		}
	}
	var file, inner map[string]json.RawMessage
	if err := json.Unmarshal(importer.Text(data), &file); err != nil {
		return name, data, nil
	}
	inner = file
	if name == processorName {
		inner = nil
		if err := json.Unmarshal(file["image_processor"], &inner); err != nil {
			return name, data, nil
		}
	}
	if inner[key], err = json.Marshal(class); err != nil {
		return name, data, err
	}
	data, err = json.Marshal(inner)
	return name + " and " + configName, data, err
}

// namesImage reports whether preprocessor_config.json names an image processor.
func namesImage(read func(string) ([]byte, error)) bool {
	var t typed
	data, err := read(preprocessorName)
	return err == nil && json.Unmarshal(importer.Text(data), &t) == nil && t.ImageProcessorType != nil
}

// nearest returns the class that reads most of a file, for a file whose class
// is unknown.
func nearest(data []byte) string {
	const most = 1 << 16 // bytes; configurations are far smaller
	var file map[string]json.RawMessage
	text := importer.Text(data)
	if len(text) > most || json.Unmarshal(text, &file) != nil {
		return ""
	}
	if inner := file["image_processor"]; len(inner) > 0 {
		if file = nil; json.Unmarshal(inner, &file) != nil {
			return ""
		}
	}
	if file == nil {
		return ""
	}
	delete(file, "image_processor") // so that load finds the class that is set here
	delete(file, "feature_extractor_type")
	best, least := "", 0
	common := []string{"ViT", "CLIP", "Siglip", "ConvNext", "Qwen2VL", "LlavaNext", "Idefics3", "Detr"} // tried first, so that they win ties
	for _, name := range append(common, slices.Sorted(maps.Keys(classes()))...) {
		file["image_processor_type"], _ = json.Marshal(name + suffix) // a string has no errors
		b, err := json.Marshal(file)
		if err != nil {
			return ""
		}
		_, err = load(b, true)
		var l importer.Errors
		if errors.As(err, &l); err != nil && l == nil {
			continue
		}
		if best == "" || len(l) < least {
			best, least = name, len(l)
		}
	}
	return best
}

// advice says how to write a graph for an unknown class. near is the nearest
// class.
func advice(near string) string {
	if near == "" {
		return ""
	}
	near += suffix
	return "; the nearest supported class is " + near + ": to start from its graph, set image_processor_type to " + near +
		" in a copy of the file, write it with infer-prep graph import --hf COPY -o graph.json, edit graph.json, and use it with --graph graph.json"
}

// unknownClass returns the error of a class that transformers does not have.
func unknownClass(o *importer.Object, data []byte, key, name string) error {
	text := importer.Describe(name)
	near := registry.Suggest(baseName(name), slices.Collect(maps.Keys(classes())))
	switch {
	case near != "":
		text += fmt.Sprintf("; did you mean %q?", near+suffix)
	case ownCode(o):
		text += " is the model's own code, which auto_map names"
	default:
		text += "; want an image processor of transformers " + Version + ", such as ViTImageProcessor"
	}
	return fmt.Errorf("importer: hf: %w", &importer.Error{
		Kind: importer.ErrUnknownClass, Path: key,
		Text: text + advice(cmp.Or(near, nearest(data))) + "; infer-prep importers --coverage lists all classes",
	})
}
