package video

import (
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// parse reads a video_preprocessor_config.json, a preprocessor_config.json, or
// a processor_config.json with a nested video_processor. file has the problems
// of o.
func parse(data []byte) (file, o *importer.Object, c class, err error) {
	if file, err = importer.Parse(data); err != nil {
		return nil, nil, c, err
	}
	o = file
	if file.Has("video_processor") {
		file.InertAll() // of other processors
		if o = file.Object("video_processor"); o == nil {
			file.Bad("video_processor", "an object")
			return nil, nil, c, file.Err("hf/video")
		}
	}
	if c, err = classOf(o); err != nil {
		return nil, nil, c, err
	}
	return file, o, c, nil
}

// classOf finds the class as AutoVideoProcessor does: video_processor_type,
// else image_processor_type if a video processor has that name.
func classOf(o *importer.Object) (class, error) {
	key := "video_processor_type"
	v, _ := o.Get(key)
	if v == nil {
		key = "image_processor_type"
		v, _ = o.Get(key)
	}
	o.Inert("image_processor_type")
	name, _ := v.(string)
	base := name
	if key == "image_processor_type" {
		base = strings.ReplaceAll(name, "ImageProcessor", suffix)
	}
	if base, ok := strings.CutSuffix(base, suffix); ok {
		if c, ok := classes[base]; ok {
			return c, nil
		}
	}
	var known []string
	for _, c := range Classes() {
		known = append(known, c.Name)
	}
	text := importer.Describe(v) + registry.DidYouMean(name, known) + "; infer-prep importers --coverage lists all classes"
	if v == nil || key == "image_processor_type" {
		text = "missing, and " + importer.Describe(v) + " of image_processor_type names no video processor. AutoVideoProcessor then takes the class from the model's config.json: give the folder with both files, or add video_processor_type, such as \"VideoMAEVideoProcessor\""
		key = "video_processor_type"
	}
	return class{}, fmt.Errorf("importer: hf/video: %w", &importer.Error{Kind: importer.ErrUnknownClass, Path: key, Text: text})
}
