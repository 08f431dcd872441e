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
			`{"imgsz":[32,32],"task":"detect","channels":3,"stride":32,"auto":false,"scale_fill":false,"scaleup":true,"center":true,"padding_value":114,` +
				`"interpolation":1,"dynamic":false,"args":{"half":false,"dynamic":false,"quantize":null}}`,
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
