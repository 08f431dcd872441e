package video_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// TestModelTypes compares with testdata/gen/importers/hf_video_models.py.
func TestModelTypes(t *testing.T) {
	var golden struct {
		Types   map[string]string
		Folders []struct {
			Files map[string]json.RawMessage
			Class string
		}
	}
	data, err := os.ReadFile("testdata/models.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &golden))
	class := func(files map[string]json.RawMessage) (string, error) {
		m := fstest.MapFS{}
		for name, text := range files {
			m[name] = &fstest.MapFile{Data: text}
		}
		_, data, err := video.FromModel(func(name string) ([]byte, error) { return fs.ReadFile(m, name) })
		if err != nil {
			return "", err
		}
		s, err := video.ImportSampling(data)
		if err != nil {
			return "", err
		}
		return s.Class(), nil
	}
	for kind, want := range golden.Types {
		text, err := json.Marshal(map[string]string{"model_type": kind})
		require.NoError(t, err)
		got, err := class(map[string]json.RawMessage{"preprocessor_config.json": []byte(`{"do_sample_frames": false}`), "config.json": text})
		require.NoError(t, err, kind)
		require.Equal(t, want, got, kind)
	}
	require.Len(t, golden.Types, 50)
	for _, f := range golden.Folders {
		got, err := class(f.Files)
		if strings.HasPrefix(f.Class, "error") {
			require.ErrorIs(t, err, importer.ErrUnknownClass)
			continue
		}
		require.NoError(t, err, f.Class)
		require.Equal(t, f.Class, got)
	}
	for _, kind := range []string{`"clip"`, "3", "null"} {
		_, err = class(map[string]json.RawMessage{"preprocessor_config.json": []byte("{}"), "config.json": []byte(`{"model_type": ` + kind + `}`)})
		require.ErrorIs(t, err, importer.ErrUnknownClass)
		require.ErrorContains(t, err, kind+" of config.json")
	}
	_, err = class(map[string]json.RawMessage{"preprocessor_config.json": []byte("{}"), "config.json": []byte(`{`)})
	require.ErrorIs(t, err, importer.ErrJSON)
}
