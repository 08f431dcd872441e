package video

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/infer-prep/infer-prep/importer"
)

// FromModel chooses the file of a model's folder, as AutoVideoProcessor does:
// processor_config.json if it has a video_processor, else
// video_preprocessor_config.json, else preprocessor_config.json. read returns
// the content of a file of the folder, or an error that matches fs.ErrNotExist.
func FromModel(read func(name string) ([]byte, error)) (name string, data []byte, err error) {
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
