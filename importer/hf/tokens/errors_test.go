package tokens

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
)

// TestParseErrors: a file that does not say what the reference needs, or says
// what it refuses, is an error that names the key.
func TestParseErrors(t *testing.T) {
	const qwen = `"image_processor": {"image_processor_type": "Qwen2VLImageProcessor"}`
	image := map[string]string{"image_token": "<im>"}
	for _, c := range []struct {
		files Files
		kind  error
		want  string
	}{
		{Files{}, importer.ErrValue, "image_processor: missing"},
		{Files{Processor: []byte(`[]`)}, importer.ErrJSON, "processor_config.json"},
		{Files{Preprocessor: []byte(`{`)}, importer.ErrJSON, "preprocessor_config.json"},
		{Files{Processor: []byte(`{` + qwen + `}`)}, importer.ErrUnknownClass, "processor_class: missing"},
		{Files{Processor: []byte(`{"processor_class": 3, ` + qwen + `}`)}, importer.ErrUnknownClass, "processor_class: 3"},
		{Files{Processor: []byte(`{"processor_class": "Qwen2VL", ` + qwen + `}`)}, importer.ErrUnknownClass, `did you mean "Qwen2VLProcessor"?`},
		{Files{Processor: []byte(`{"processor_class": "Processor", ` + qwen + `}`)}, importer.ErrUnknownClass, `"Processor"`},
		{Files{Processor: []byte(`{"processor_class": "Gemma3Processor", ` + qwen + `}`)}, importer.ErrUnsupported, "Gemma3ImageProcessor only"},
		{Files{Processor: []byte(`{"processor_class": "Qwen2VLProcessor", "image_processor": {}}`)}, importer.ErrUnsupported, "image_processor_type: null"},
		{Files{Processor: []byte(`{"processor_class": "Qwen2VLProcessor", ` + qwen + `}`)}, importer.ErrValue, "image_token: missing"},
		{Files{Processor: []byte(`{"processor_class": "Qwen2VLProcessor", ` + qwen + `}`), Tokenizer: []byte(`{"image_token": 3}`)}, importer.ErrValue, "image_token: 3"},
		{Files{Processor: []byte(`{"processor_class": "Qwen2VLProcessor", ` + qwen + `}`), Tokens: image, Call: []byte(`{"min_pixel": 3}`)}, importer.ErrUnknownKey, `min_pixel: did you mean "min_pixels"?`},
		{Files{Processor: []byte(`{"processor_class": "Qwen2VLProcessor", ` + qwen + `}`), Tokens: image, Call: []byte(`{"size": 3}`)}, importer.ErrValue, "size: 3"},
		{Files{Processor: []byte(`{"processor_class": "LlavaNextProcessor", "image_processor": {"image_processor_type": "LlavaNextImageProcessor"}}`), Tokens: image}, importer.ErrValue, "patch_size: missing"},
		{Files{Processor: []byte(`{"processor_class": "Idefics3Processor", "image_processor": {"image_processor_type": "Idefics3ImageProcessor"}}`)}, importer.ErrValue, "double_newline_tokens: missing"},
		{Files{Processor: []byte(`{"processor_class": "CLIPProcessor", ` + qwen + `}`)}, importer.ErrUnsupported, "it puts no tokens of images into a text"},
		{Files{Processor: []byte(`{"processor_class": "Kosmos2Processor", ` + qwen + `}`)}, importer.ErrUnsupported, "by their ids"},
		{Files{Processor: []byte(`{"processor_class": "ShieldGemma2Processor", "image_processor": {"image_processor_type": "Gemma3ImageProcessor"}}`), Call: []byte(`{"do_pan_and_scan": true}`)}, importer.ErrValue, "pan_and_scan_min_crop_size: missing"},
		{Files{Processor: []byte(`{"processor_class": "InklingProcessor", "image_processor": {"image_processor_type": "InklingImageProcessor", "size": {"height": 3, "width": 4}}}`), Tokens: image}, importer.ErrValue, "want equal height and width"},
		{Files{Processor: []byte(`{"processor_class": "Idefics2Processor", "image_processor": {"image_processor_type": "Idefics2ImageProcessor"}}`), Tokens: map[string]string{"image_token": "[IMG]", "image_boundary_token": "<f>"}}, importer.ErrValue, "want a token that starts with"},
		{Files{Processor: []byte(`{"processor_class": "MiniCPMOcrProcessor", "image_processor": {"image_processor_type": "MiniCPMOcrImageProcessor", "small_image_upsize": "adaptive"}}`), Tokens: image}, importer.ErrValue, `small_image_upsize: "adaptive"`},
	} {
		p, err := Parse(c.files)
		require.ErrorIs(t, err, c.kind, c.want)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, p)
	}
}

// TestTokens: the string of a token comes from the caller, else from the
// tokenizer's file in any of its forms, else from the class.
func TestTokens(t *testing.T) {
	f := Files{Preprocessor: []byte(`{"processor_class": "Qwen2VLProcessor", "image_processor_type": "Qwen2VLImageProcessorFast"}`)}
	for tokenizer, want := range map[string]string{
		`{}`:                                "<|image_pad|>",
		`{"image_token": "a"}`:              "a",
		`{"image_token": {"content": "b"}}`: "b",
		`{"extra_special_tokens": {"image_token": "c"}}`: "c",
	} {
		f.Tokenizer = []byte(tokenizer)
		for _, given := range []map[string]string{nil, {"image_token": "d"}} {
			f.Tokens = given
			if given != nil {
				want = "d"
			}
			p, err := Parse(f)
			require.NoError(t, err)
			l, err := p.Images([2]int{28, 28})
			require.NoError(t, err)
			require.Equal(t, want+want+want+want, l[0].Text)
		}
	}
}

// TestSizeErrors: sizes outside the limits are errors, and so are texts above
// the limit.
func TestSizeErrors(t *testing.T) {
	f := Files{Preprocessor: []byte(`{"processor_class": "Qwen2VLProcessor", "image_processor_type": "Qwen2VLImageProcessor", "max_pixels": 2000000000, "patch_size": 4, "merge_size": 1}`), Tokens: map[string]string{"image_token": "<image>"}}
	p, err := Parse(f)
	require.NoError(t, err)
	for _, s := range [][2]int{{0, 1}, {1, -1}, {1 << 25, 1}, {1 << 16, 1 << 16}} {
		_, err := p.Images(s)
		require.ErrorContains(t, err, "want sides of 1 to 16777216", s)
	}
	_, err = p.Images([2]int{40000, 40000})
	require.ErrorContains(t, err, "67108864 bytes")
	_, err = p.Images(make([][2]int, 257)...)
	require.ErrorContains(t, err, "want at most 256")
	l, err := p.Images()
	require.NoError(t, err)
	require.Empty(t, l)
}
