package importer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
)

// TestInvalidValueKeepsKeysKnown replaces each value of a valid file by invalid
// ones. No other key may be called unknown because the importer stopped early.
// Package hf has a test of its own.
func TestInvalidValueKeepsKeysKnown(t *testing.T) {
	for name, files := range map[string][]string{
		"timm": {
			`{"architecture":"resnet50","num_classes":10,"pretrained_cfg":{"input_size":[3,32,32],"fixed_input_size":true,"interpolation":"bicubic",` +
				`"crop_pct":0.9,"crop_mode":"center","mean":[0.5],"std":[0.5],"use_prefetcher":false,"normalize":true},` +
				`"model_args":{"img_size":32,"in_chans":3,"dynamic_img_size":false,"strict_img_size":true}}`,
		},
		"keras": {
			`{"mode":"tf","size":[32,32],"interpolation":"nearest","keep_aspect_ratio":false,"color_mode":"rgb","data_format":"channels_last"}`,
		},
		"opencv": {
			`{"size":[32,32],"scalefactor":0.1,"mean":[1,2,3],"swapRB":true,"crop":false,"ddepth":5,"paddingmode":2,"borderValue":[1,2,3],"datalayout":"NCHW"}`,
		},
		"ultralytics": {
			`{"imgsz":[32,32],"task":"detect","head":"Detect","channels":3,"stride":32,"auto":false,"scale_fill":false,"scaleup":true,"center":true,"padding_value":114,` +
				`"interpolation":1,"args":{"half":false,"dynamic":false,"quantize":null}}`,
		},
	} {
		i, err := importer.Lookup(name)
		require.NoError(t, err)
		for _, file := range files {
			_, err := i.Import([]byte(file))
			require.NoError(t, err, name)
			var tree map[string]any
			require.NoError(t, json.Unmarshal([]byte(file), &tree))
			replaceEach(tree, "", func(path string) {
				b, err := json.Marshal(tree)
				require.NoError(t, err)
				_, err = i.Import(b)
				var l importer.Errors
				if !errors.As(err, &l) {
					return
				}
				for _, e := range l {
					own := e.Path == path || strings.HasPrefix(e.Path, path+".")
					require.False(t, errors.Is(e, importer.ErrUnknownKey) && !own, "%s with an invalid %s: %v", name, path, e)
				}
			})
		}
	}
}

// replaceEach calls f with each value of a tree replaced by each of a few
// others.
func replaceEach(tree map[string]any, prefix string, f func(path string)) {
	for k, v := range tree {
		for _, bad := range []any{"?", -1.5, nil, []any{"?"}, map[string]any{"?": 1}} {
			tree[k] = bad
			f(prefix + k)
		}
		tree[k] = v
		if inner, ok := v.(map[string]any); ok {
			replaceEach(inner, prefix+k+".", f)
		}
	}
}

// TestMessages checks whole messages, as people read them.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"hf", `{"video_processor_type":"Qwen2VLVideoProcessor"}`, `unknown class: video_processor_type: "Qwen2VLVideoProcessor" is no image processor: infer-prep run --video takes the file`},
		{"hf", `{"size":224}`, `unknown class: image_processor_type: missing, like feature_extractor_type. AutoImageProcessor then takes the class from model_type in the model's config.json: ` +
			`import the folder with both files, or add image_processor_type, such as "ViTImageProcessor"`},
		{"hf", `{"image_processor_type":5}`, `unknown class: image_processor_type: 5, want the name of an image processor`},
		{"hf", `{"image_processor_type":"ViTImageProcessor","device":"cuda"}`, `invalid value device: "cuda", want null or "cpu": the reference runs on a CPU, and a GPU may return other values`},
		{"hf", `{"image_processor_type":"TimmWrapperImageProcessor"}`, `missing key pretrained_cfg: want an object with the model's data configuration, which transformers reads in the model's config.json`},
		{"timm", `{"architecture":"x","interpolation":"nearest","model_args":{}}`, `missing key pretrained_cfg: want it beside model_args`},
		{"timm", `{"pretrained_cfg":{"input_size":224}}`, `invalid value pretrained_cfg.input_size: 224, want [3, height, width]`},
		{"keras", `{"mode":"tf","size":[2,2],"target_size":[2,2]}`, `invalid value size: [2, 2], want none beside target_size`},
		{"opencv", `{"borderValue":[1,2,3]}`, `invalid value borderValue: [1, 2, 3], want none without paddingmode 2`},
		{"tflite", "\x10\x00\x00\x00abcd", `malformed file: model: no TFL3 at byte 4: not a TFLite model`},
	} {
		i, err := importer.Lookup(c.name)
		require.NoError(t, err)
		_, err = i.Import([]byte(c.in))
		require.EqualError(t, err, "importer: "+c.name+": "+c.want, c.in)
	}
}
