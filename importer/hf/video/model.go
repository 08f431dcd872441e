package video

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
)

// FromModel chooses the file of a model's folder, as AutoVideoProcessor does:
// processor_config.json if it has a video_processor, else
// video_preprocessor_config.json, else preprocessor_config.json. If the file
// names no class, config.json does by video_processor_type or model_type. Then
// name has the names of both files, and data is the file's content with
// video_processor_type. Function read returns the content of a file of the
// folder, or an error that matches fs.ErrNotExist.
func FromModel(read func(name string) ([]byte, error)) (name string, data []byte, err error) {
	if name, data, err = chooseFile(read); err != nil {
		return name, data, err
	}
	var file, inner map[string]json.RawMessage
	if json.Unmarshal(importer.Text(data), &file) != nil {
		return name, data, nil // Import says what is wrong
	}
	if inner = file; len(file["video_processor"]) > 0 {
		inner = nil
		if json.Unmarshal(file["video_processor"], &inner) != nil {
			return name, data, nil
		}
	}
	if inner == nil || named(inner) {
		return name, data, nil
	}
	const config = "config.json"
	text, err := read(config)
	if errors.Is(err, fs.ErrNotExist) {
		return name, data, nil
	} else if err != nil {
		return config, nil, err
	}
	var model struct {
		VideoProcessorType any `json:"video_processor_type"`
		ModelType          any `json:"model_type"`
	}
	if err := json.Unmarshal(importer.Text(text), &model); err != nil {
		return config, nil, fmt.Errorf("importer: hf/video: %w", &importer.Error{Kind: importer.ErrJSON, Text: err.Error()})
	}
	class, _ := model.VideoProcessorType.(string)
	if class == "" {
		kind, _ := model.ModelType.(string)
		base, ok := modelTypes[kind]
		if !ok {
			return name + " and " + config, nil, fmt.Errorf("importer: hf/video: %w", &importer.Error{Kind: importer.ErrUnknownClass, Path: "model_type", Text: importer.Describe(model.ModelType) + " of config.json: no video processor is known for it; add video_processor_type to " + name + ", such as \"VideoMAEVideoProcessor\""})
		}
		class = base + suffix
	}
	inner["video_processor_type"], err = json.Marshal(class)
	if err == nil && len(file["video_processor"]) > 0 {
		file["video_processor"], err = json.Marshal(inner)
	}
	if err == nil {
		data, err = json.Marshal(file)
	}
	return name + " and " + config, data, err
}

// named reports whether a file names its class.
func named(file map[string]json.RawMessage) bool {
	if v, ok := file["video_processor_type"]; ok && string(v) != "null" {
		return true
	}
	var image string
	_ = json.Unmarshal(file["image_processor_type"], &image) // another type names no class
	base, ok := strings.CutSuffix(strings.ReplaceAll(image, "ImageProcessor", suffix), suffix)
	_, known := classes[base]
	return ok && known
}

// chooseFile chooses and reads the file.
func chooseFile(read func(name string) ([]byte, error)) (name string, data []byte, err error) {
	const first = "processor_config.json"
	if data, err = read(first); err == nil {
		var t struct {
			VideoProcessor json.RawMessage `json:"video_processor"`
		}
		if json.Unmarshal(importer.Text(data), &t) == nil && len(t.VideoProcessor) > 0 && string(t.VideoProcessor) != "null" {
			return first, data, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return first, nil, err
	}
	for _, name := range []string{"video_preprocessor_config.json", "preprocessor_config.json"} {
		if data, err = read(name); !errors.Is(err, fs.ErrNotExist) {
			return name, data, err
		}
	}
	return "", nil, fmt.Errorf("importer: hf/video: %w: want video_preprocessor_config.json, preprocessor_config.json, or processor_config.json with a video_processor", err)
}
