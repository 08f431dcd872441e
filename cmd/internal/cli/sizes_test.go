package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type sizesLine struct {
	Image   string
	Size    []int
	Outputs map[string]struct {
		DType string
		Shape []int
	}
	OutputsError   string `json:"outputs_error"`
	NumImageTokens *int   `json:"num_image_tokens"`
	NumTextTokens  *int   `json:"num_text_tokens"`
	Text           *string
	TokensError    string `json:"tokens_error"`
	Error          string
}

func sizesLines(t *testing.T, out string) (l []sizesLine) {
	for line := range strings.Lines(out) {
		var s sizesLine
		require.NoError(t, json.Unmarshal([]byte(line), &s), line)
		l = append(l, s)
	}
	return l
}

func TestSizes(t *testing.T) {
	const hf = "../../../testdata/configs/hf/qwen2-vl-2b-instruct.json"
	image := filepath.Join(t.TempDir(), "480x640")
	require.NoError(t, os.WriteFile(image, pngBytes(t, 640, 480, 0), 0o666))
	l := sizesLines(t, succeed(t, "sizes", "--hf", hf, "480x640", image))
	require.Len(t, l, 2)
	require.Equal(t, []int{480, 640}, l[0].Size)
	require.Equal(t, []int{1564, 1176}, l[0].Outputs["pixel_values"].Shape) // 34 x 46 patches of 14 x 14 pixels
	require.Equal(t, "float32", l[0].Outputs["pixel_values"].DType)
	require.Equal(t, []int{3}, l[0].Outputs["image_grid_thw"].Shape)
	require.Equal(t, image, l[1].Image)
	l[1].Image = ""
	require.Equal(t, l[0], l[1])

	// The size is that after the orientation was applied.
	turned := "../../../testdata/images/jpeg_exif_ii_6.jpg"
	up := sizesLines(t, succeed(t, "sizes", "--preset", "decode", "--exif", turned))[0]
	flat := sizesLines(t, succeed(t, "sizes", "--preset", "decode", "--exif=false", turned))[0]
	require.Equal(t, []int{flat.Size[1], flat.Size[0]}, up.Size)
	require.Equal(t, append(up.Size, 3), up.Outputs["image"].Shape)
}

// TestSizesFail: an argument that fails has a line of its own, and the others
// are answered.
func TestSizesFail(t *testing.T) {
	const hf = "../../../testdata/configs/hf/qwen2-vl-2b-instruct.json"
	missing := filepath.Join(t.TempDir(), "missing")
	r := call(t, "sizes", "--hf", hf, "1x3000", "0x5", missing, "99999999999999999999x3", "sizes_test.go", "28x28")
	require.Equal(t, 1, r.status)
	l := sizesLines(t, r.stdout)
	require.Len(t, l, 6)
	for i, want := range []string{"want at most 200", "want 1 or more", "no such file", "want HEIGHTxWIDTH", "unknown format", ""} {
		require.Contains(t, l[i].Error, want)
		require.Equal(t, want != "", l[i].Error != "")
		require.Contains(t, r.stderr, want)
	}
	require.Equal(t, []int{1, 3000}, l[0].Size)
	require.NotEmpty(t, l[5].Outputs)

	r = call(t, "sizes", "--hf", hf)
	require.Equal(t, 2, r.status)
	require.Contains(t, r.stderr, "want sizes such as 480x640, or images")
}

// modelFolder writes the files of a model, by name.
func modelFolder(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// TestSizesTokens: a folder's files give the number of tokens and the text.
func TestSizesTokens(t *testing.T) {
	const image = `"image_processor": {"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14, "merge_size": 2, "size": {"shortest_edge": 3136, "longest_edge": 1003520}}`
	files := map[string]string{
		"processor_config.json": `{"processor_class": "Qwen2VLProcessor", ` + image + `}`,
		"tokenizer_config.json": `{"image_token": {"__type": "AddedToken", "content": "<im>"}}`,
	}
	dir := modelFolder(t, files)
	cat := filepath.Join(dir, "cat.png")
	require.NoError(t, os.WriteFile(cat, pngBytes(t, 640, 480, 0), 0o666))
	l := sizesLines(t, succeed(t, "sizes", "--hf", dir, "480x640", cat))
	for _, line := range l { // 34 x 46 patches, in squares of four
		require.Equal(t, []int{480, 640}, line.Size)
		require.Equal(t, 391, *line.NumImageTokens)
		require.Equal(t, strings.Repeat("<im>", 391), *line.Text)
		require.Equal(t, []int{1564, 1176}, line.Outputs["pixel_values"].Shape)
		require.Nil(t, line.NumTextTokens)
		require.Empty(t, line.TokensError+line.OutputsError)
	}

	// Without the tokenizer's file the token's string is missing, and a file
	// gives it. The number heeds the call's min_pixels, not its size.
	delete(files, "tokenizer_config.json")
	files["tokens.json"], files["call.json"] = `{"image_token": "<pad>"}`, `{"size": {"shortest_edge": 784, "longest_edge": 7840}}`
	dir = modelFolder(t, files)
	line := sizesLines(t, succeed(t, "sizes", "--hf", dir, "480x640"))[0]
	require.Contains(t, line.TokensError, "image_token: missing")
	require.NotEmpty(t, line.Outputs)
	for _, hf := range []string{dir, filepath.Join(dir, "processor_config.json")} {
		line = sizesLines(t, succeed(t, "sizes", "--hf", hf, "--tokens", filepath.Join(dir, "tokens.json"), "--call", filepath.Join(dir, "call.json"), "480x640"))[0]
		require.Equal(t, 391, *line.NumImageTokens)
		require.Equal(t, 6, *line.NumTextTokens)
		require.Equal(t, strings.Repeat("<pad>", 6), *line.Text)
		require.Contains(t, line.OutputsError, "--call")
		require.Empty(t, line.Outputs)
	}

	// A graph that cannot be imported does not hide the tokens.
	files["processor_config.json"] = strings.Replace(files["processor_config.json"], `"merge_size"`, `"resample": 4, "merge_size"`, 1)
	dir = modelFolder(t, files)
	cat = filepath.Join(dir, "cat.png")
	require.NoError(t, os.WriteFile(cat, pngBytes(t, 640, 480, 0), 0o666))
	for _, line := range sizesLines(t, succeed(t, "sizes", "--hf", dir, "--tokens", filepath.Join(dir, "tokens.json"), "480x640", cat)) {
		require.Equal(t, 391, *line.NumImageTokens)
		require.Contains(t, line.OutputsError, "resample")
	}
	r := call(t, "sizes", "--hf", dir, "--tokens", filepath.Join(dir, "tokens.json"), "1x3000", "28x28")
	require.Equal(t, 1, r.status)
	l = sizesLines(t, r.stdout)
	require.Contains(t, l[0].Error, "want at most 200")
	require.Equal(t, 4, *l[1].NumImageTokens)

	// Folders without a processor have no tokens.
	dir = modelFolder(t, map[string]string{"preprocessor_config.json": `{"image_processor_type": "ViTImageProcessor"}`})
	line = sizesLines(t, succeed(t, "sizes", "--hf", dir, "480x640"))[0]
	require.NotEmpty(t, line.Outputs)
	require.Empty(t, line.TokensError)
	dir = modelFolder(t, map[string]string{"preprocessor_config.json": `{"image_processor_type": "ViTImageProcessor", "processor_class": "Quen2VLProcessor"}`})
	line = sizesLines(t, succeed(t, "sizes", "--hf", dir, "480x640"))[0]
	require.Contains(t, line.TokensError, `did you mean "Qwen2VLProcessor"?`)
	require.NotEmpty(t, line.Outputs)

	r = call(t, "sizes", "--preset", "clip", "--tokens", "tokens.json", "28x28")
	require.Equal(t, 2, r.status)
	require.Contains(t, r.stderr, "--tokens and --call apply to --hf")
}
