package hf

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// realKeys is testdata/keys.json.
type realKeys struct {
	Files []struct {
		Source, Class string
		Keys, Refused []string
	}
}

func readKeys(t *testing.T) (k realKeys) {
	b, err := os.ReadFile("testdata/keys.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &k))
	require.NotEmpty(t, k.Files)
	return k
}

// minimal returns the class's own file with additional keys.
func minimal(t *testing.T, class string, keys ...string) []byte {
	m := map[string]any{"image_processor_type": class}
	if strings.HasPrefix(class, "LayoutLM") {
		m["apply_ocr"] = false
	}
	for _, k := range keys {
		m[k] = 1
	}
	b, err := json.Marshal(m)
	require.NoError(t, err)
	return b
}

// TestRealKeys imports files with the keys of real ones. Exactly the keys that
// are marked as refused are unknown.
func TestRealKeys(t *testing.T) {
	imported := 0
	for _, f := range readKeys(t).Files {
		var keys []string
		for _, k := range f.Keys {
			if k != "image_processor_type" && k != "apply_ocr" {
				keys = append(keys, k)
			}
		}
		_, err := Import(minimal(t, f.Class, keys...))
		var unknown []string
		if l, ok := errors.AsType[importer.Errors](err); ok {
			for _, e := range l { // values of 1 are invalid for most keys
				if errors.Is(e, importer.ErrUnknownKey) {
					unknown = append(unknown, e.Path)
				}
			}
		}
		assert.Equal(t, f.Refused, unknown, f.Source)
		if len(unknown) == 0 {
			imported++
		}
	}
	t.Logf("%d of %d sets of keys are accepted", imported, len(readKeys(t).Files))
}

// TestUnread checks that every key of unread is one of a real file, that it is
// accepted and changes nothing in every class whose code does not read it, and
// that it is not accepted unseen in the others.
func TestUnread(t *testing.T) {
	found := map[string]bool{}
	for _, f := range readKeys(t).Files {
		for _, k := range f.Keys {
			found[k] = true
		}
	}
	for _, key := range unread {
		assert.True(t, found[key], "no real file has %s", key)
	}
	for name := range classes() {
		class := name + suffix
		plain, plainErr := Import(minimal(t, class))
		for _, key := range unread {
			g, err := Import(minimal(t, class, key))
			if _, is := former[name][key]; is || readsKey(name, key) {
				continue // the class's own code decides
			}
			if plainErr != nil {
				assert.EqualError(t, err, plainErr.Error(), "%s %s", class, key)
				continue
			}
			assert.NoError(t, err, "%s %s", class, key)
			assert.Equal(t, plain, g, "%s %s", class, key)
		}
	}
}

// TestReads checks the table of names against names that are known to be read.
func TestReads(t *testing.T) {
	require.True(t, readsKey("CLIP", "do_center_crop"))
	require.True(t, readsKey("CLIP", "use_square_size"))
	require.True(t, readsKey("MaskFormer", "ignore_index"))
	require.False(t, readsKey("CLIP", "ignore_index"))
	for name := range classes() {
		require.Contains(t, reads, name)
		require.True(t, readsKey(name, "do_resize"), name)
	}
	for m, c := range models {
		require.Contains(t, classes(), c, m)
	}
}

// TestNearest checks the class that is suggested for an unknown one.
func TestNearest(t *testing.T) {
	for config, want := range map[string]string{
		`{"image_processor_type":"MyImageProcessor","image_grid_pinpoints":[[336,672]],"size":{"shortest_edge":336},"crop_size":336}`: "LlavaNextImageProcessor",
		`{"image_processor_type":"MyImageProcessor","size":224}`:                                                                      "ViTImageProcessor",
		`{"image_processor_type":"MyImageProcessor","crop_size":{"height":9,"width":9},"size":{"shortest_edge":9}}`:                   "ViTImageProcessor",
		`{"image_processor_type":"ViViTImageProcessor","size":9}`:                                                                     "VivitImageProcessor",
		`{"image_processor":{"image_processor_type":"MyImageProcessor","patch_size":14,"merge_size":2,"temporal_patch_size":2}}`:      "Qwen2VLImageProcessor",
	} {
		_, err := Import([]byte(config))
		require.ErrorIs(t, err, importer.ErrUnknownClass)
		require.ErrorContains(t, err, "the nearest supported class is "+want+":", config)
	}
	_, err := Import([]byte(`{"image_processor_type":"MyImageProcessor","auto_map":{"AutoImageProcessor":"x.MyImageProcessor"}}`))
	require.ErrorContains(t, err, "is the model's own code, which auto_map names")
}

// files returns the read function of a folder with these files.
func files(m map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := m[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

// TestFolder chooses the files of a model's folder as transformers 5.23.0 does.
func TestFolder(t *testing.T) {
	const vit, clip = `{"image_processor_type":"ViTImageProcessor","size":32}`, `{"image_processor_type":"CLIPImageProcessor"}`
	for name, c := range map[string]struct {
		files       map[string]string
		read, class string // the class of the graph
	}{
		"one":             {map[string]string{preprocessorName: vit}, preprocessorName, "ViT"},
		"nested first":    {map[string]string{preprocessorName: vit, processorName: `{"image_processor":` + clip + `,"processor_class":"X"}`}, processorName, "CLIP"},
		"nested alone":    {map[string]string{processorName: `{"image_processor":` + clip + `}`}, processorName, "CLIP"},
		"not nested":      {map[string]string{preprocessorName: vit, processorName: `{"processor_class":"X"}`}, preprocessorName, "ViT"},
		"null":            {map[string]string{preprocessorName: vit, processorName: `{"image_processor":null}`}, preprocessorName, "ViT"},
		"model type":      {map[string]string{preprocessorName: `{"size":32}`, configName: `{"model_type":"dinov2"}`}, preprocessorName + " and " + configName, "Bit"},
		"type in config":  {map[string]string{preprocessorName: `{"size":32}`, configName: `{"model_type":"vit","image_processor_type":"CLIPImageProcessor"}`}, preprocessorName + " and " + configName, "CLIP"},
		"nested no type":  {map[string]string{processorName: `{"image_processor":{"size":32}}`, configName: `{"model_type":"vit"}`}, processorName + " and " + configName, "ViT"},
		"config not used": {map[string]string{preprocessorName: vit, configName: `{"model_type":"clip"}`}, preprocessorName, "ViT"},
		"marks":           {map[string]string{preprocessorName: "\ufeff" + `{"size":32}`, configName: "\ufeff" + `{"model_type":"vit"}`}, preprocessorName + " and " + configName, "ViT"},
	} {
		t.Run(name, func(t *testing.T) {
			read, data, err := folder(files(c.files))
			require.NoError(t, err)
			require.Equal(t, c.read, read)
			g, err := Import(data)
			require.NoError(t, err)
			require.Contains(t, g.Reference, " "+c.class+suffix+",")
		})
	}
	_, _, err := folder(files(nil))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, preprocessorName)
	const timm = `{"architecture":"resnet50","pretrained_cfg":{"tag":"a1_in1k"}}`
	for _, more := range []string{"", vit} { // a config.json of timm comes before preprocessor_config.json
		m := map[string]string{configName: timm, preprocessorName: more}
		if more == "" {
			delete(m, preprocessorName)
		}
		read, data, err := folder(files(m))
		require.NoError(t, err)
		require.Equal(t, configName, read)
		g, err := Import(data)
		require.NoError(t, err)
		require.Equal(t, "transformers 5.23.0 TimmWrapperImageProcessor", g.Reference)
	}
	read, _, err := folder(files(map[string]string{configName: timm, processorName: `{"image_processor":` + clip + `}`}))
	require.NoError(t, err)
	require.Equal(t, processorName, read)
	_, data, err := folder(files(map[string]string{preprocessorName: `{"size":32}`, configName: `{"model_type":"new"}`}))
	require.NoError(t, err)
	_, err = Import(data)
	require.ErrorIs(t, err, importer.ErrUnknownClass)
}

// TestForms imports the same file in the forms in which it is pasted.
func TestForms(t *testing.T) {
	const text = `{"image_processor_type": "ViTImageProcessor", "size": 32}`
	want, err := Import([]byte(text))
	require.NoError(t, err)
	utf16 := []byte("\xff\xfe")
	for _, c := range []byte(text) {
		utf16 = append(utf16, c, 0)
	}
	for name, in := range map[string]string{
		"mark": "\ufeff" + text, "UTF-16": string(utf16), "fence": "```json\n" + text + "\n```\n",
		"printed": "ViTImageProcessor " + text + "\n", "printed by a processor": "- image_processor: ViTImageProcessorFast " + text,
		"nested": `{"image_processor":` + text + `,"tokenizer":{"x":1}}`,
	} {
		g, err := Import([]byte(in))
		require.NoError(t, err, name)
		require.Equal(t, want, g, name)
	}
	// Which of the two counts depends on the file's name.
	_, err = Import([]byte(`{"image_processor_type":"ViTImageProcessor","size":32,"image_processor":{"image_processor_type":"CLIPImageProcessor"}}`))
	require.ErrorIs(t, err, importer.ErrValue)
	require.ErrorContains(t, err, `image_processor_type: "ViTImageProcessor", want none beside image_processor`)
	for in, part := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\n": "git lfs pull",
		"<!DOCTYPE html>\n<html>":                                    "download the raw file",
		`{'image_processor_type': 'ViTImageProcessor'}`:              "invalid character", // transformers refuses it too
	} {
		_, err := Import([]byte(in))
		require.ErrorIs(t, err, importer.ErrJSON)
		require.ErrorContains(t, err, part)
	}
}

// TestBackendIsNamed checks that the reference says which backend the graph
// has, and that code of the model's own is not run.
func TestBackendIsNamed(t *testing.T) {
	for config, want := range map[string]string{
		`{"image_processor_type":"ViTImageProcessorFast"}`:                                        "ViTImageProcessor, backend torchvision",
		`{"image_processor_type":"ViTImageProcessorPil"}`:                                         "ViTImageProcessor, backend torchvision",
		`{"image_processor_type":"ViTImageProcessor","use_fast":false}`:                           "ViTImageProcessor, backend torchvision",
		`{"image_processor_type":"ViTImageProcessor","auto_map":{"AutoProcessor":"a.B"}}`:         "ViTImageProcessor, backend torchvision",
		`{"image_processor_type":"ViTImageProcessor","auto_map":{"AutoImageProcessor":"a.B"}}`:    "ViTImageProcessor, backend torchvision, without trust_remote_code",
		`{"image_processor_type":"ViTImageProcessor","auto_map":{"AutoImageProcessor":["a.B"]}} `: "ViTImageProcessor, backend torchvision, without trust_remote_code",
	} {
		g, err := Import([]byte(config))
		require.NoError(t, err)
		require.Equal(t, "transformers "+Version+" "+want, g.Reference, config)
	}
	_, err := Import([]byte(`{"image_processor_type":"ViTImageProcessor","backend":"pil"}`))
	require.ErrorIs(t, err, importer.ErrUnknownKey)
	require.ErrorContains(t, err, "--backend chooses the backend")
}

// TestIgnoreKeys ignores keys that no list knows.
func TestIgnoreKeys(t *testing.T) {
	const config = `{"image_processor_type":"ViTImageProcessor","size":{"height":8,"width":8,"depth":8},"zz":[1,{"a":null}],"yy":1}`
	_, err := Import([]byte(config))
	require.ErrorContains(t, err, "zz: it changes no pixel, since ViTImageProcessor of transformers "+Version+" does not read it; --ignore-key zz")
	want, err := Import([]byte(`{"image_processor_type":"ViTImageProcessor","size":{"height":8,"width":8}}`))
	require.NoError(t, err)
	open := func(config string, keys ...string) (*datagraph.Graph, error) {
		return importer.Importer{Name: "hf", Import: Import}.Open([]byte(config), importer.Options{IgnoreKeys: keys})
	}
	g, err := open(config, "zz", "size.depth", "yy")
	require.NoError(t, err)
	require.Equal(t, want.Reference+", ignoring size.depth, yy, zz", g.Reference)
	g.Reference = want.Reference
	require.Equal(t, want, g)

	for _, keys := range [][]string{{"size"}, {"zz", "do_resize"}, {"missing"}, {"image_processor_type"}} {
		_, err = open(config, keys...)
		require.ErrorIs(t, err, importer.ErrIgnore, keys)
	}
	_, err = open(config, "zz")
	require.ErrorContains(t, err, "unknown key yy")
	_, err = open(`{"image_processor_type":"Nope"}`, "zz")
	require.ErrorIs(t, err, importer.ErrUnknownClass)
	g, err = open(`{"image_processor_type":"ViTImageProcessor"}`)
	require.NoError(t, err)
	require.False(t, slices.Contains(strings.Fields(g.Reference), "ignoring"))
}

// unknownKeys returns the paths of an import's unknown keys.
func unknownKeys(err error) (paths []string) {
	if l, ok := errors.AsType[importer.Errors](err); ok {
		for _, e := range l {
			if errors.Is(e, importer.ErrUnknownKey) {
				paths = append(paths, e.Path)
			}
		}
	}
	return paths
}

// TestInvalidValueKeepsKeysKnown gives every class an invalid value for one
// key beside all others. Keys that the importer knows must not be called
// unknown because it stopped early.
func TestInvalidValueKeepsKeysKnown(t *testing.T) {
	stopped := 0
	for name := range classes() {
		m := map[string]any{"image_processor_type": name + suffix}
		for _, k := range slices.Concat(strings.Fields(common), strings.Fields(reads[name]), inert, unread) {
			if k == "image_processor_type" || k == "image_processor" || slices.Contains(unknownKeys(errorOf(Import(minimal(t, name+suffix, k)))), k) {
				continue
			}
			m[k] = nil
		}
		require.Greater(t, len(m), 15, name)
		for _, bad := range append(strings.Fields(reads[name]), "size", "crop_size", "resample", "image_mean", "do_pad") {
			if _, ok := m[bad]; !ok {
				continue
			}
			m[bad] = []any{"?"}
			b, err := json.Marshal(m)
			require.NoError(t, err)
			if _, err = Import(b); errors.Is(err, importer.ErrValue) || errors.Is(err, importer.ErrMissing) {
				require.Empty(t, unknownKeys(err), "%s with an invalid %s", name, bad)
				stopped++
			}
			m[bad] = nil
		}
	}
	require.Greater(t, stopped, 500)
	_, err := Import([]byte(`{"image_processor_type":"FuyuImageProcessor","padding_mode":"constant","padding_value":0.5,"padding_valeu":1}`))
	require.Equal(t, []string{"padding_valeu"}, unknownKeys(err)) // still reported at once
}

func errorOf(_ *datagraph.Graph, err error) error { return err }

// TestFormerKeys checks the keys that older versions of transformers read. They
// are accepted if they ask for what the class does, and otherwise named with
// what they did. goldens_official.json has the reference's outputs.
func TestFormerKeys(t *testing.T) {
	for class, keys := range former {
		require.Contains(t, classes(), class)
		for k := range keys {
			require.False(t, readsKey(class, k), "%s reads %s", class, k)
		}
	}
	for config, note := range map[string]string{
		`{"image_processor_type":"FuyuImageProcessor","target_height":1080,"target_width":1920}`:                                                 "",
		`{"image_processor_type":"FuyuImageProcessor","size":{"height":30,"width":40},"target_height":30,"target_width":40}`:                     "",
		`{"image_processor_type":"FuyuImageProcessor","target_height":1000}`:                                                                     "",
		`{"image_processor_type":"FuyuImageProcessor","size":{"height":30,"width":40},"target_width":1920}`:                                      "",
		`{"image_processor_type":"VivitImageProcessor","do_zero_centering":true}`:                                                                "",
		`{"image_processor_type":"VivitImageProcessor","do_zero_centering":false}`:                                                               "",
		`{"image_processor_type":"VivitImageProcessor","do_zero_centering":false,"offset":false}`:                                                "",
		`{"feature_extractor_type":"PoolFormerFeatureExtractor","do_resize_and_center_crop":true}`:                                               "",
		`{"feature_extractor_type":"PoolFormerFeatureExtractor","do_resize_and_center_crop":false}`:                                              "",
		`{"image_processor_type":"LayoutLMv3ImageProcessor","apply_ocr":false,"rescale_value":0.00392156862745098}`:                              "",
		`{"image_processor_type":"LayoutLMv3ImageProcessor","apply_ocr":false,"rescale_value":0.5}`:                                              "in place of rescale_factor",
		`{"feature_extractor_type":"SegformerFeatureExtractor","do_random_crop":true,"padding_value":0}`:                                         "",
		`{"feature_extractor_type":"SegformerFeatureExtractor","image_scale":[2048,512],"keep_ratio":true,"align":true,"size_divisor":32}`:       "version 4.12 resizes by image_scale",
		`{"image_processor_type":"Phi4MultimodalImageProcessorFast","feature_extractor_type":"Phi4MultimodalFeatureExtractor","win_length":400}`: "",
		`{"image_processor_type":"ViTImageProcessor","do_resize_and_center_crop":true}`:                                                          "ViTImageProcessor of transformers 5.23.0 does not read it",
		`{"image_processor_type":"PoolFormerImageProcessor","target_height":1080}`:                                                               "does not read it",
	} {
		_, err := Import([]byte(config))
		if note == "" {
			require.NoError(t, err, config)
			continue
		}
		require.ErrorIs(t, err, importer.ErrUnknownKey, config)
		require.ErrorContains(t, err, note, config)
		require.ErrorContains(t, err, "; --ignore-key ", config)
	}
}
