package importer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// goldenFile is the contents of testdata/goldens*.json, which
// testdata/gen/importers/goldens.py and hf_patches.py write.
type goldenFile struct {
	Cases   []goldenCase `json:"cases"`
	Refused []goldenCase `json:"refused"` // by the reference
}

type goldenCase struct {
	Importer string          `json:"importer"`
	Name     string          `json:"name"`
	Config   json.RawMessage `json:"config"` // an object, or a string with the text of a file that is not JSON
	Results  []struct {
		Image   string                   `json:"image"`
		Image2  string                   `json:"image2"`  // the second input, if any
		Box     []float64                `json:"box"`     // the second input of a class that takes a box
		Refused bool                     `json:"refused"` // by the reference, because the image is too narrow
		Outputs map[string]golden.Digest `json:"outputs"`
	} `json:"results"`
}

func goldens(t *testing.T) goldenFile {
	files, err := filepath.Glob("testdata/goldens*.json")
	require.NoError(t, err)
	var all goldenFile
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		var g goldenFile
		require.NoError(t, json.Unmarshal(b, &g), f)
		require.NotEmpty(t, g.Cases, f)
		all.Cases, all.Refused = append(all.Cases, g.Cases...), append(all.Refused, g.Refused...)
	}
	require.NotEmpty(t, all.Cases)
	return all
}

func importAs(t testing.TB, name string, config []byte) (*datagraph.Graph, error) {
	switch name {
	case "hf-pil":
		return hf.ImportPIL(config)
	case "hf-audio":
		return hf.ImportAudio(config)
	case "torchvision-tensor":
		return torchvision.ImportTensor(config)
	}
	i, err := importer.Lookup(name)
	require.NoError(t, err)
	return i.Import(config)
}

// file returns the contents of the file that the importer reads.
func (c goldenCase) file(t *testing.T) []byte {
	if c.Config[0] != '"' {
		return c.Config
	}
	var text string
	require.NoError(t, json.Unmarshal(c.Config, &text))
	return []byte(text)
}

func shapeOf(d tensor.Desc) []int {
	s := make([]int, d.Shape.Rank())
	for i := range s {
		s[i] = d.Shape.At(i)
	}
	return s
}

func TestGoldens(t *testing.T) {
	step := short.Step(t, 5)
	for i, c := range goldens(t).Cases {
		if i%step != 0 {
			continue
		}
		t.Run(c.Importer+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			g, err := importAs(t, c.Importer, c.file(t))
			require.NoError(t, err, "%s", c.Config)
			require.NotEmpty(t, g.Reference)
			p, err := datagraph.Compile(g, datagraph.CompileOptions{})
			require.NoError(t, err)
			r := p.NewRunner()
			for _, res := range c.Results {
				var in []*tensor.Tensor
				for _, name := range []string{res.Image, res.Image2} {
					if name != "" {
						b, err := os.ReadFile(filepath.Join("testdata", name))
						require.NoError(t, err)
						in = append(in, tensor.FromBytes(b))
					}
				}
				if len(p.Graph().Inputs) == 2 && res.Box != nil {
					b, err := tensor.New(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(4)})
					require.NoError(t, err)
					copy(tensor.View[float64](b), res.Box)
					in = append(in, b)
				}
				out, err := r.Run(in...)
				if res.Refused {
					require.ErrorIs(t, err, transforms.ErrInput, "%s", res.Image)
					continue
				}
				require.NoError(t, err, "%s", res.Image)
				require.Len(t, out, len(res.Outputs))
				for i, col := range p.Outputs() {
					want, ok := res.Outputs[col.Name]
					require.True(t, ok, "output %s", col.Name)
					if diff := want.Diff(out[i]); diff != "" {
						t.Errorf("%s %s: %s\n%s", res.Image, col.Name, diff, c.Config)
					}
				}
			}
		})
	}
}

// TestReferenceRefuses checks that importers reject whatever their reference
// rejects.
func TestReferenceRefuses(t *testing.T) {
	for _, c := range goldens(t).Refused {
		_, err := importAs(t, c.Importer, c.file(t))
		assert.Error(t, err, "%s %s", c.Importer, c.Name)
	}
}

// TestConfigs imports and writes the realistic files of testdata/configs.
func TestConfigs(t *testing.T) {
	files, err := filepath.Glob("../testdata/configs/*/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		g, err := importAs(t, filepath.Base(filepath.Dir(f)), b)
		require.NoError(t, err, f)
		j, err := json.Marshal(g)
		require.NoError(t, err, f)
		var back datagraph.Graph
		require.NoError(t, json.Unmarshal(j, &back), f)
		require.Equal(t, g, &back, f)
	}
}

func TestRegistry(t *testing.T) {
	// Every folder that registers an importer is linked by package all.
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	registers := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		if !strings.HasSuffix(f, "_test.go") && bytes.Contains(b, []byte("importer.Register(")) {
			registers++
		}
	}
	require.Len(t, importer.Names(), registers)
	require.Contains(t, importer.Names(), "hf")
	for _, i := range importer.All() {
		require.NotEmpty(t, i.Doc, i.Name)
	}
	_, err = importer.Lookup("kears")
	require.ErrorIs(t, err, importer.ErrUnknown)
	require.EqualError(t, err, `importer: unknown importer "kears"; did you mean "keras"?`)
	hf, err := importer.Lookup("hf")
	require.NoError(t, err)
	require.PanicsWithValue(t, `register importer "hf": the name is taken`, func() { importer.Register(hf) })
	hf.Name, hf.Import = "hf2", nil
	require.PanicsWithValue(t, `register importer "hf2": Import is nil`, func() { importer.Register(hf) })
}

// binary lists the importers of files that are not JSON.
var binary = map[string]bool{"kaldi": true, "mindir": true, "onnx": true, "tflite": true}

// python are texts of TestJSON that importers of Python literals read.
var python = map[string]bool{`{"a":1,}`: true, `{"a":'x'}`: true}

// TestJSON checks that every importer rejects damaged JSON with the same kind
// of error.
func TestJSON(t *testing.T) {
	for _, in := range []string{
		"", " ", "{", "}", "[]", "1", "null", `"x"`, "garbage", `{"a":1`, `{"a" 1}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `{"a":1}{}`, `{"a":1} x`,
		`{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":[1}`, `{"a":'x'}`, "{\"a\":\"\n\"}", "{} //", "\ufeff", "\ufeff\ufeff{}", "```json\n{}", "```\n{}\n```\n{}\n```", "version https://git-lfs.github.com/spec/v1\n", "<!doctype html>",
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
		`{"a":` + strings.Repeat("[", 100000),
		`{"a":"` + strings.Repeat("x", 17<<20) + `"}`,
	} {
		for _, name := range importer.Names() {
			if python[in] && name != "hf" {
				continue
			}
			_, err := importAs(t, name, []byte(in))
			if binary[name] {
				require.Error(t, err, "%s: %.40q", name, in)
				continue
			}
			require.ErrorIs(t, err, importer.ErrJSON, "%s: %.40q", name, in)
		}
	}
}

// TestRefusals checks that every error names the key and what was expected.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, in string
		kind     error
		want     []string // parts of the message, in order
	}{
		{"hf", `{}`, importer.ErrUnknownClass, []string{"image_processor_type", "model_type", "config.json"}},
		{"hf", `{"image_processor_type":null,"size":224}`, importer.ErrUnknownClass, []string{"image_processor_type", "model_type"}},
		{"hf", `{"image_processor_type":7}`, importer.ErrUnknownClass, []string{"image_processor_type"}},
		{"hf", `{"image_processor_type":"Wav2Vec2ImageProcessor"}`, importer.ErrUnknownClass, []string{`"Wav2Vec2ImageProcessor"`, "importers --coverage"}},
		{"hf-pil", `{"image_processor_type":"Owlv2ImageProcessor","size":{"height":3,"width":9}}`, importer.ErrValue, []string{"size", "height", "3", "channels"}},
		{"hf-pil", `{"image_processor_type":"Owlv2ImageProcessor","rescale_factor":-0.5}`, importer.ErrValue, []string{"rescale_factor", "-0.5", "0 or more"}},
		{"hf", `{"image_processor_type":"Lfm2VlImageProcessor","min_tiles":2,"max_tiles":3}`, importer.ErrValue, []string{"min_tiles", "2 to 10", "Python set"}},
		{"hf", `{"image_processor_type":"Lfm2VlImageProcessor","tile_size":100}`, importer.ErrValue, []string{"tile_size", "100", "encoder_patch_size"}},
		{"hf", `{"image_processor_type":"Lfm2VlImageProcessor","encoder_patch_size":100,"downsample_factor":41}`, importer.ErrValue, []string{"max_image_tokens", "4096"}},
		{"hf", `{"image_processor_type":"MiniCPMV4_6ImageProcessor","max_slice_nums":35}`, importer.ErrValue, []string{"max_slice_nums", "35", "0 to 34"}},
		{"hf", `{"image_processor_type":"MiniCPMV4_6ImageProcessor","do_resize":false}`, importer.ErrValue, []string{"do_resize", "false", "true"}},
		{"hf", `{"image_processor_type":"MiniCPMOcrImageProcessor","small_image_upsize":"adaptive"}`, importer.ErrValue, []string{"small_image_upsize", `"adaptive"`, "OpenCV"}},
		{"hf", `{"image_processor_type":"TimmWrapperImageProcessor"}`, importer.ErrMissing, []string{"pretrained_cfg", "config.json"}},
		{"hf", `{"pretrained_cfg":{"tag":"a","normalize":false}}`, importer.ErrUnknownKey, []string{"pretrained_cfg.normalize"}},
		{"hf", `{"pretrained_cfg":{"in_chans":1}}`, importer.ErrValue, []string{"pretrained_cfg.in_chans", "1", "3"}},
		{"hf", `{"image_processor_type":"ViT"}`, importer.ErrUnknownClass, []string{`"ViT"`}},
		{"hf", `{"feature_extractor_type":"CohereAsrFeatureExtractor"}`, importer.ErrUnsupported, []string{"dither", "torch's generator"}},
		{"hf", `{"feature_extractor_type":"Wav2Vec3FeatureExtractor"}`, importer.ErrUnknownClass, []string{"feature_extractor_type", "Wav2Vec3"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","zz":1,"resize":{},"crop_pct":0.9}`, importer.ErrUnknownKey, []string{"crop_pct: it changes no pixel", "ViTImageProcessor", "ConvNextImageProcessor reads it", "--ignore-key crop_pct", "it may change pixels", "ViTImageProcessor", "zz: it changes no pixel", "--ignore-key zz"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","do_flip_channel_order":true}`, importer.ErrUnknownKey, []string{"do_flip_channel_order"}},
		{"hf", `{"image_processor_type":"CLIPImageProcessor","include_top":true}`, importer.ErrUnknownKey, []string{"include_top"}},
		{"hf", `{"image_processor_type":"CLIPImageProcessor","size_divisor":32}`, importer.ErrUnknownKey, []string{"size_divisor"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","use_square_size":true}`, importer.ErrUnknownKey, []string{"use_square_size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":{"height":1,"width":2,"depth":3}}`, importer.ErrUnknownKey, []string{"size.depth"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":{"height":1,"width":2,"shortest_edge":3}}`, importer.ErrValue, []string{"size", "an object"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":{}}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":{"height":"1","width":2}}`, importer.ErrValue, []string{"size.height", `"1"`, "whole number"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":0}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":-3}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":true}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":99999999999999999999}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":[16777216,16777217]}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":[1,2,3]}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","resample":6}`, importer.ErrValue, []string{"resample", "6", "bicubic"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","resample":"bicubic"}`, importer.ErrValue, []string{"resample"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","do_resize":1}`, importer.ErrValue, []string{"do_resize", "true or false"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","do_resize":"false"}`, importer.ErrValue, []string{"do_resize"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","rescale_factor":"1/255"}`, importer.ErrValue, []string{"rescale_factor"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","rescale_factor":1e999}`, importer.ErrValue, []string{"rescale_factor"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","image_mean":[1,2,"3"]}`, importer.ErrValue, []string{"image_mean", "three numbers"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","image_std":{}}`, importer.ErrValue, []string{"image_std"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","data_format":"nhwc"}`, importer.ErrValue, []string{"data_format", "channels_first"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","apply_ocr":true}`, importer.ErrValue, []string{"apply_ocr"}},
		{"hf", `{"image_processor_type":"LayoutLMv3ImageProcessor"}`, importer.ErrValue, []string{"apply_ocr", "absent", "false"}},
		{"hf", `{"image_processor_type":"LayoutLMv3ImageProcessor","apply_ocr":true}`, importer.ErrValue, []string{"apply_ocr", "true", "false"}},
		{"hf", `{"image_processor_type":"ConvNextImageProcessor","crop_pct":0}`, importer.ErrValue, []string{"crop_pct"}},
		{"hf", `{"image_processor_type":"ConvNextImageProcessor","size":100,"crop_pct":1e-9}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ConvNextImageProcessor","size":100,"crop_pct":1e9}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"LevitImageProcessor","size":16777216}`, importer.ErrValue, []string{"size"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","size":true,"crop_size":"x","foo":1,"image_mean":2}`, importer.ErrUnknownKey, []string{"crop_size", "foo", "size"}},
		{"hf", `{"image_processor_type":"EfficientNetImageProcessor","do_normalize":false,"image_std":null}`, importer.ErrValue, []string{"image_std", "include_top"}},
		{"hf", `{"image_processor_type":"DetrImageProcessor","size":{"shortest_edge":800}}`, importer.ErrValue, []string{"size", "shortest_edge and longest_edge"}},
		{"hf", `{"image_processor_type":"DetrImageProcessor","size":800,"max_size":"x"}`, importer.ErrValue, []string{"max_size", `"x"`}},
		{"hf", `{"image_processor_type":"DetrImageProcessor","size":800,"max_size":null}`, importer.ErrValue, []string{"size", "longest_edge"}},
		{"hf", `{"image_processor_type":"DetrImageProcessor","format":"voc"}`, importer.ErrValue, []string{"format", "coco_detection"}},
		{"hf", `{"image_processor_type":"DetrImageProcessor","pad_size":{"shortest_edge":5}}`, importer.ErrValue, []string{"pad_size", "height and width"}},
		{"hf", `{"image_processor_type":"YolosImageProcessor","size_divisor":16,"mod_size":16}`, importer.ErrUnknownKey, []string{"mod_size", "size_divisor"}},
		{"hf", `{"image_processor_type":"ViTImageProcessor","max_size":16}`, importer.ErrUnknownKey, []string{"max_size"}},
		{"hf", `{"image_processor_type":"SamImageProcessor","size":1024}`, importer.ErrValue, []string{"size", "longest_edge"}},
		{"hf", `{"image_processor_type":"SamImageProcessor","mask_size":{"x":1}}`, importer.ErrValue, []string{"mask_size"}},
		{"hf", `{"image_processor_type":"DPTImageProcessor","ensure_multiple_of":14.0}`, importer.ErrValue, []string{"ensure_multiple_of", "whole number"}},
		{"hf", `{"image_processor_type":"DPTImageProcessor","size_divisor":-1}`, importer.ErrValue, []string{"size_divisor"}},
		{"hf", `{"image_processor_type":"DPTImageProcessor","size":{"shortest_edge":5,"longest_edge":7}}`, importer.ErrValue, []string{"size", "height and width"}},
		{"hf", `{"image_processor_type":"DPTImageProcessor","keep_aspect_ratio":1}`, importer.ErrValue, []string{"keep_aspect_ratio"}},
		{"hf", `{"image_processor_type":"GotOcr2ImageProcessor","max_patches":1025}`, importer.ErrValue, []string{"max_patches", "1025", "0 to 1024"}},
		{"hf", `{"image_processor_type":"GotOcr2ImageProcessor","crop_to_patches":true,"size":{"shortest_edge":9}}`, importer.ErrValue, []string{"size", "height and width"}},
		{"hf", `{"image_processor_type":"GotOcr2ImageProcessor","image_grid_pinpoints":[]}`, importer.ErrUnknownKey, []string{"image_grid_pinpoints"}},
		{"hf", `{"image_processor_type":"LlavaNextImageProcessor","image_grid_pinpoints":[[1,2],[3]]}`, importer.ErrValue, []string{"image_grid_pinpoints", "[height, width]"}},
		{"hf", `{"image_processor_type":"GraniteDoclingImageProcessor","min_patches":9,"max_patches":8}`, importer.ErrValue, []string{"min_patches", "at most max_patches"}},
		{"hf", `{"image_processor_type":"GraniteDoclingImageProcessor","dense_max_patches":9,"dense_max_scale":0.5}`, importer.ErrValue, []string{"dense_max_patches", "9", "0"}},
		{"hf", `{"image_processor_type":"MllamaImageProcessor","do_pad":false}`, importer.ErrValue, []string{"do_pad", "true"}},
		{"hf", `{"image_processor_type":"Llama4ImageProcessor","size":[3,4]}`, importer.ErrValue, []string{"size", "equal height and width"}},
		{"hf", `{"image_processor_type":"Idefics3ImageProcessor","return_row_col_info":true}`, importer.ErrValue, []string{"return_row_col_info", "false"}},
		{"hf", `{"image_processor_type":"Idefics3ImageProcessor","max_image_size":{}}`, importer.ErrValue, []string{"max_image_size.longest_edge"}},
		{"hf", `{"image_processor_type":"Gemma3ImageProcessor","do_pan_and_scan":true,"pan_and_scan_min_crop_size":9,"pan_and_scan_max_num_crops":2}`, importer.ErrValue, []string{"pan_and_scan_min_ratio_to_activate", "absent"}},
		{"hf", `{"image_processor_type":"AriaImageProcessor","max_image_size":500}`, importer.ErrValue, []string{"max_image_size", "490 or 980"}},
		{"hf", `{"image_processor_type":"Phi4MultimodalImageProcessor","resample":1}`, importer.ErrValue, []string{"resample", "antialias"}},
		{"timm", `{"pretrained_cfg":{"foo":1},"bar":2}`, importer.ErrUnknownKey, []string{"bar", "pretrained_cfg.foo"}},
		{"timm", `{"pretrained_cfg":null}`, importer.ErrValue, []string{"pretrained_cfg"}},
		{"timm", `{"pretrained_cfg":[]}`, importer.ErrValue, []string{"pretrained_cfg"}},
		{"timm", `{}`, importer.ErrMissing, []string{"pretrained_cfg"}},
		{"timm", `{"pretrained_cfg":{}}`, importer.ErrMissing, []string{"pretrained_cfg"}},
		{"timm", `{"architecture":"resnet50","num_classes":10}`, importer.ErrMissing, []string{"pretrained_cfg"}},
		{"timm", `{"model_args":{}}`, importer.ErrMissing, []string{"pretrained_cfg"}},
		{"timm", `{"interpolation":"random"}`, importer.ErrValue, []string{"interpolation", `"random"`, "bicubic"}},
		{"timm", `{"input_size":[1,224,224]}`, importer.ErrValue, []string{"input_size", "[3, height, width]"}},
		{"timm", `{"input_size":224}`, importer.ErrValue, []string{"input_size"}},
		{"timm", `{"input_size":[3,0,224]}`, importer.ErrValue, []string{"input_size"}},
		{"timm", `{"input_size":[3,224,99999999999]}`, importer.ErrValue, []string{"input_size"}},
		{"timm", `{"crop_pct":-1}`, importer.ErrValue, []string{"crop_pct"}},
		{"timm", `{"crop_pct":1e-12}`, importer.ErrValue, []string{"crop_pct"}},
		{"timm", `{"crop_pct":500}`, importer.ErrValue, []string{"crop_pct"}},
		{"timm", `{"crop_mode":"stretch"}`, importer.ErrValue, []string{"crop_mode", "squash"}},
		{"timm", `{"crop_mode":"border","mean":[0.5,2,0.5]}`, importer.ErrValue, []string{"mean"}},
		{"timm", `{"mean":0.5}`, importer.ErrValue, []string{"mean"}},
		{"timm", `{"std":[0,0,0]}`, importer.ErrValue, []string{"std"}},
		{"timm", `{"pretrained_cfg":{},"model_args":{"in_chans":1}}`, importer.ErrValue, []string{"model_args.in_chans"}},
		{"timm", `{"pretrained_cfg":{"fixed_input_size":true},"model_args":{"img_size":"x"}}`, importer.ErrValue, []string{"model_args.img_size"}},
		{"torchvision", `{}`, importer.ErrMissing, []string{"torchvision"}},
		{"torchvision", `{"torchvision":null}`, importer.ErrValue, []string{"torchvision"}},
		{"torchvision", `{"torchvision":{}}`, importer.ErrMissing, []string{"torchvision.crop_size"}},
		{"torchvision", `{"torchvision":{"crop_size":224,"resize":3},"x":1}`, importer.ErrUnknownKey, []string{"torchvision.resize", "x"}},
		{"torchvision", `{"torchvision":{"crop_size":224.0}}`, importer.ErrValue, []string{"torchvision.crop_size"}},
		{"torchvision", `{"torchvision":{"crop_size":[1,2]}}`, importer.ErrValue, []string{"torchvision.crop_size"}},
		{"torchvision", `{"torchvision":{"crop_size":1,"interpolation":"area"}}`, importer.ErrValue, []string{"torchvision.interpolation", "bicubic"}},
		{"torchvision", `{"torchvision":{"crop_size":1,"interpolation":null}}`, importer.ErrValue, []string{"torchvision.interpolation"}},
		{"torchvision", `{"torchvision":{"crop_size":1,"mean":[1,2]}}`, importer.ErrValue, []string{"torchvision.mean"}},
		{"torchvision", `{"torchvision":{"crop_size":1,"std":null}}`, importer.ErrValue, []string{"torchvision.std"}},
		{"torchvision", `{"torchvision":{"crop_size":16777216,"resize_size":16777217}}`, importer.ErrValue, []string{"torchvision.resize_size"}},
		{"torchvision", "Compose(\n    Resize(size=256, max_size=None)\n", importer.ErrFormat, []string{"line 3", `""`, "closes Compose"}},
		{"torchvision", "Compose(Resize(size=256,,))", importer.ErrFormat, []string{"line 1", `",))"`}},
		{"torchvision", "Compose(Resize(size=[1, 2))", importer.ErrFormat, []string{"line 1"}},
		{"torchvision", "Compose(Resize(size=1, size=2))", importer.ErrFormat, []string{"each argument once"}},
		{"torchvision", "Compose() Compose()", importer.ErrFormat, []string{`"Compose()"`, "the end"}},
		{"torchvision", strings.Repeat("Compose(", 30) + strings.Repeat(")", 30), importer.ErrFormat, []string{"at most 24 deep"}},
		{"torchvision", "Compose(Resize(size='x))", importer.ErrFormat, []string{"quotation mark"}},
		{"torchvision", "Compose()", importer.ErrValue, []string{"Compose", "Pillow image", "ToImage()", "--backend tensor"}},
		{"torchvision", "Compose(\n      RandomHorizontalFlip(p=0.5)\n      ToImage()\n)", importer.ErrUnsupported, []string{"Compose.transforms.0.RandomHorizontalFlip", "random"}},
		{"torchvision", "Compose(\n      Lambda(<lambda>, types=['object'])\n      ToImage()\n)", importer.ErrUnsupported, []string{"Lambda"}},
		{"torchvision", "Compose(\n    CentreCrop(size=(3, 3))\n    ToTensor()\n)", importer.ErrUnsupported, []string{"CentreCrop", `did you mean "CenterCrop"?`}},
		{"torchvision", "Compose(\n    ToTensor()\n    Normalize(mean=tensor([0.4850, 0.4560, 0.4060]), std=tensor([0.2290, 0.2240, 0.2250]))\n)", importer.ErrValue, []string{"Normalize.mean", "tensor(…)", "four digits"}},
		{"torchvision", "Compose(\n    ToTensor()\n    Normalize(mean=[1, 2, 3], std=[1, 0, 1])\n)", importer.ErrValue, []string{"Normalize.std"}},
		{"torchvision", "Compose(\n    Resize(size=224, interpolation=area, max_size=None, antialias=True)\n    ToTensor()\n)", importer.ErrValue, []string{"Resize.interpolation", `"area"`}},
		{"torchvision", "Compose(\n    Resize(size=224, interpolation=bilinear, max_size=224, antialias=True)\n    ToTensor()\n)", importer.ErrValue, []string{"Resize.max_size", "224"}},
		{"torchvision", "Compose(\n    Pad(padding=[1, 2, 3], fill=0, padding_mode=constant)\n    ToTensor()\n)", importer.ErrValue, []string{"Pad.padding"}},
		{"torchvision", "Compose(\n    ToTensor()\n    Grayscale(num_output_channels=1)\n)", importer.ErrUnsupported, []string{"Grayscale", "float tensor"}},
		{"torchvision", "Compose(\n    ToTensor()\n    CenterCrop(size=(2, 2), fill=3)\n)", importer.ErrUnknownKey, []string{"CenterCrop.fill"}},
		{"torchvision-tensor", "Compose(ConvertImageDtype(dtype=torch.float))", importer.ErrValue, []string{"ConvertImageDtype", "v1 divides"}},
		{"torchvision-tensor", "Compose(Grayscale(num_output_channels=1))", importer.ErrValue, []string{"Grayscale", "v1 and v2"}},
		{"torchvision-tensor", `{"torchvision":{"crop_size":1,"interpolation":"box"}}`, importer.ErrValue, []string{"torchvision.interpolation", "for a tensor"}},
		{"timm", `{"input_size":[3,2,2],"use_prefetcher":1}`, importer.ErrValue, []string{"use_prefetcher"}},
		{"ultralytics", `{}`, importer.ErrMissing, []string{"imgsz"}},
		{"ultralytics", `{"ultralytics":1}`, importer.ErrValue, []string{"ultralytics"}},
		{"ultralytics", `{"ultralytics":{"imgsz":[640,640],"strides":1}}`, importer.ErrUnknownKey, []string{"ultralytics.strides"}},
		{"ultralytics", `{"ultralytics":{"imgsz":"[640"}}`, importer.ErrValue, []string{"ultralytics.imgsz"}},
		{"ultralytics", `{"imgsz":[640,640,3]}`, importer.ErrValue, []string{"imgsz"}},
		{"ultralytics", `{"imgsz":[0,640]}`, importer.ErrValue, []string{"imgsz"}},
		{"ultralytics", `{"imgsz":64,"stride":0}`, importer.ErrValue, []string{"stride"}},
		{"ultralytics", `{"imgsz":64,"stride":1.5}`, importer.ErrValue, []string{"stride"}},
		{"ultralytics", `{"imgsz":64,"stride":1e300}`, importer.ErrValue, []string{"stride"}},
		{"ultralytics", `{"imgsz":64,"auto":1}`, importer.ErrValue, []string{"auto"}},
		{"ultralytics", `{"imgsz":64,"padding_value":256}`, importer.ErrValue, []string{"padding_value"}},
		{"ultralytics", `{"imgsz":64,"interpolation":5}`, importer.ErrValue, []string{"interpolation"}},
		{"ultralytics", `{"imgsz":64,"task":"classify"}`, importer.ErrValue, []string{"task", "torchvision"}},
		{"ultralytics", `{"imgsz":64,"task":"fly"}`, importer.ErrValue, []string{"task", "detect"}},
		{"ultralytics", `{"imgsz":64,"channels":"1"}`, importer.ErrValue, []string{"channels"}},
		{"ultralytics", `{"imgsz":64,"args":"{'half': True}"}`, importer.ErrValue, []string{"args.half", "float16"}},
		{"ultralytics", `{"imgsz":64,"args":{"quantize":16}}`, importer.ErrValue, []string{"args.quantize"}},
		{"ultralytics", `{"imgsz":64,"args":{"foo":16}}`, importer.ErrUnknownKey, []string{"args.foo"}},
		{"ultralytics", `{"imgsz":64,"args":"{'foo': 16}"}`, importer.ErrUnknownKey, []string{"args.foo"}},
		{"ultralytics", `{"imgsz":64,"args":"{'dynamic': "}`, importer.ErrValue, []string{"args"}},
		{"ultralytics", `{"imgsz":64,"args":"__import__('os')"}`, importer.ErrValue, []string{"args"}},
		{"ultralytics", `{"imgsz":64,"args":"{'a': 'x"}`, importer.ErrValue, []string{"args"}},
		{"ultralytics", `{"imgsz":64,"args":7}`, importer.ErrValue, []string{"args"}},
	} {
		_, err := importAs(t, c.name, []byte(c.in))
		require.ErrorIs(t, err, c.kind, "%s %s", c.name, c.in)
		rest, msg := err.Error(), err.Error()
		ecosystem, _, _ := strings.Cut(c.name, "-")
		require.True(t, strings.HasPrefix(msg, "importer: "+ecosystem+": "), msg)
		for _, w := range c.want {
			_, after, ok := strings.Cut(rest, w)
			require.True(t, ok, "%s %s: %q, want %q after what was found", c.name, c.in, msg, w)
			rest = after
		}
		var one *importer.Error
		require.ErrorAs(t, err, &one, c.in)
	}
}

// TestHuge checks that files with the largest image sides cost nothing to
// import.
func TestHuge(t *testing.T) {
	for name, in := range map[string]string{
		"hf":          `{"image_processor_type":"ViTImageProcessor","size":16777216}`,
		"timm":        `{"input_size":[3,16777216,16777216],"crop_pct":1.0,"interpolation":"bicubic"}`,
		"torchvision": `{"torchvision":{"crop_size":16777216}}`,
		"ultralytics": `{"imgsz":[16777216,16777216]}`,
	} {
		g, err := importAs(t, name, []byte(in))
		if err != nil {
			require.ErrorIs(t, err, importer.ErrValue, name)
			continue
		}
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		if err != nil {
			continue
		}
		b, err := os.ReadFile("testdata/gray.png")
		require.NoError(t, err)
		_, err = p.NewRunner().Run(tensor.FromBytes(b))
		require.Error(t, err, name)
	}
}

func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("../testdata/configs/*/*")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(b)
	}
	b, err := os.ReadFile("testdata/sounds.json")
	require.NoError(f, err)
	var sounds soundFile
	require.NoError(f, json.Unmarshal(b, &sounds))
	for _, c := range sounds.Cases {
		f.Add([]byte(c.Config))
	}
	f.Add([]byte(`{"mode":"torch","size":[20,30],"interpolation":"bicubic"}`))
	f.Add([]byte(`{"scalefactor":[0.1,0.2,0.3],"size":[30,20],"mean":[1,2,3],"swapRB":true,"crop":true}`))
	f.Add([]byte(`{"size":[30,20],"paddingmode":2,"borderValue":[1,2,3],"datalayout":"NHWC"}`))
	f.Add([]byte(`{"ultralytics":{"imgsz":"(64,)","args":"{'a': \"b\", 'dynamic': True}"}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, name := range append(importer.Names(), "hf-pil", "hf-audio", "torchvision-tensor") {
			g, err := importAs(t, name, in)
			if (g == nil) == (err == nil) {
				t.Fatalf("%s: graph %v, error %v", name, g, err)
			}
			if err != nil {
				continue
			}
			if err := g.Validate(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := json.Marshal(g); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

// TestWholeFactor: transformers' torchvision backend multiplies bytes by a
// whole rescale_factor modulo 256, which no model wants.
func TestWholeFactor(t *testing.T) {
	config := []byte(`{"image_processor_type": "ViTImageProcessor", "rescale_factor": 2, "do_normalize": false}`)
	_, err := hf.Import(config)
	require.ErrorIs(t, err, importer.ErrValue)
	require.ErrorContains(t, err, "rescale_factor: 2, want a number with a decimal point")
	_, err = hf.ImportPIL(config)
	require.NoError(t, err)
}

// TestClasses compares the known image processors with those of transformers,
// which testdata/gen/importers/transformers_classes.py lists. Every class runs
// in its default backend, with goldens, or has a reason.
func TestClasses(t *testing.T) {
	b, err := os.ReadFile("testdata/transformers.json")
	require.NoError(t, err)
	var list struct {
		Transformers string
		Classes      map[string][]string
	}
	require.NoError(t, json.Unmarshal(b, &list))
	require.Equal(t, hf.Version, list.Transformers)
	have := hf.Classes()
	require.Len(t, have, len(list.Classes))
	exact := 0
	for _, c := range have {
		name := strings.TrimSuffix(c.Name, "ImageProcessor")
		require.Equal(t, list.Classes[name], c.Backends, c.Name)
		require.Len(t, c.Cases, len(c.Backends), c.Name)
		minimal := fmt.Appendf(nil, `{"image_processor_type":%q}`, c.Name)
		_, err := hf.Import(minimal)
		require.NotErrorIs(t, err, importer.ErrUnsupported, c.Name)
		require.NotErrorIs(t, err, importer.ErrUnknownClass, c.Name)
		if c.Partial != "" {
			_, pil := hf.ImportPIL(minimal)
			require.ErrorIs(t, errors.Join(err, pil), importer.ErrValue, c.Name)
			require.Positive(t, slices.Max(c.Cases), c.Name)
			continue
		}
		for i, backend := range c.Backends {
			require.Positive(t, c.Cases[i], "%s %s: no golden; after new ones run go generate ./importer/hf", c.Name, backend)
		}
		exact++
	}
	t.Logf("%d of %d classes", exact, len(have))
	require.GreaterOrEqual(t, exact, 132)
}
