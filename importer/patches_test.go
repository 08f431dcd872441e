package importer_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestPatchRefusals checks the errors of the classes with patches and pages, by
// name.
func TestPatchRefusals(t *testing.T) {
	for _, c := range []struct {
		class, in string
		kind      error
		want      string
	}{
		{"Donut", `"size":{"shortest_edge":9}`, importer.ErrValue, "size: an object, want height and width"},
		{"Donut", `"size":[3,4,5]`, importer.ErrValue, "size: [3, 4, 5]"},
		{"Donut", `"resample":null`, importer.ErrValue, "resample: null"},
		{"Donut", `"do_thumbnail":1`, importer.ErrValue, "do_thumbnail: 1, want true or false"},
		{"Donut", `"random_padding":true`, importer.ErrUnknownKey, "random_padding"},
		{"Qwen2VL", `"size":100`, importer.ErrValue, "size: 100, want shortest_edge and longest_edge"},
		{"Qwen2VL", `"size":{"shortest_edge":100}`, importer.ErrValue, "size.longest_edge: absent, want an area in pixels"},
		{"Qwen2VL", `"size":{"min_pixels":1,"max_pixels":2}`, importer.ErrValue, "size.min_pixels: 1, want shortest_edge"},
		{"Qwen2VL", `"size":{"shortest_edge":1,"longest_edge":2,"depth":3}`, importer.ErrUnknownKey, "size.depth"},
		{"Qwen2VL", `"max_pixels":281474976710657`, importer.ErrValue, "max_pixels: 281474976710657, want a number of pixels"},
		{"Qwen2VL", `"min_pixels":3136.0`, importer.ErrValue, "min_pixels: 3136.0"},
		{"Qwen2VL", `"patch_size":0`, importer.ErrValue, "patch_size: 0"},
		{"Qwen2VL", `"patch_size":16777216`, importer.ErrValue, "patch_size: 16777216"},
		{"Qwen2VL", `"merge_size":null`, importer.ErrValue, "merge_size: null"},
		{"Qwen2VL", `"temporal_patch_size":-1`, importer.ErrValue, "temporal_patch_size: -1"},
		{"Siglip2", `"patch_size":"16"`, importer.ErrValue, `patch_size: "16"`},
		{"Siglip2", `"max_num_patches":0`, importer.ErrValue, "max_num_patches: 0"},
		{"Siglip2", `"size":{"width":3}`, importer.ErrValue, "size: an object"},
		{"Siglip2", `"merge_size":2`, importer.ErrUnknownKey, "merge_size"},
		{"Glm4v", `"temporal_patch_size":33`, importer.ErrValue, "temporal_patch_size: 33, want a whole number of 1 to 32"},
		{"Glm4v", `"size":{"min_pixels":1,"max_pixels":2}`, importer.ErrUnknownKey, "size.max_pixels"},
		{"Ernie4_5_VLMoe", `"size":64`, importer.ErrValue, "size: 64, want shortest_edge and longest_edge"},
		{"Glmga", `"patch_expand_factor":8388608`, importer.ErrValue, "patch_size"},
		{"Gemma4", `"max_soft_tokens":100`, importer.ErrValue, "max_soft_tokens: 100, want 70, 140, 280, 560 or 1120"},
		{"Gemma4", `"pooling_kernel_size":65`, importer.ErrValue, "pooling_kernel_size: 65"},
		{"Gemma4", `"patch_size":16777216`, importer.ErrValue, "at most 2^48 pixels in all"},
		{"Kimi_K25", `"size":{"max_height":5,"max_width":6}`, importer.ErrValue, "size: an object, want max_height and max_width"},
		{"NemotronH_Omni_Reasoning_V3", `"downsample_ratio":0`, importer.ErrValue, "downsample_ratio: 0"},
		{"NemotronH_Omni_Reasoning_V3", `"resample":4`, importer.ErrValue, "resample: 4"},
		{"NeoMME", `"size":64`, importer.ErrValue, "size: 64, want null, or min_pixels and max_pixels"},
		{"Fuyu", `"padding_mode":"edge"`, importer.ErrValue, `padding_mode: "edge"`},
		{"Fuyu", `"padding_value":0.5`, importer.ErrValue, "padding_value: 0.5"},
		{"Pix2Struct", `"max_patches":9`, importer.ErrValue, "do_normalize: absent, want false, or the PIL backend"},
		{"Pix2Struct", `"is_vqa":true`, importer.ErrValue, "is_vqa: true"},
		{"Pix2Struct", `"do_normalize":false,"patch_size":{"height":5,"width":6}`, importer.ErrValue, "patch_size: an object, want height and width, which must be equal"},
		{"Kosmos2_5", `"do_normalize":false`, importer.ErrValue, "do_normalize: false, want true"},
	} {
		_, err := importAs(t, "hf", []byte(`{"image_processor_type":"`+c.class+`ImageProcessor",`+c.in+`}`))
		require.ErrorIs(t, err, c.kind, "%s %s", c.class, c.in)
		require.ErrorContains(t, err, c.want, "%s %s", c.class, c.in)
	}
}

// TestPatchOutputs checks the outputs that the comments of the classes state.
// smart_resize rejects an image that is too narrow, and so does the graph, with
// the reason.
func TestPatchOutputs(t *testing.T) {
	encoded := func(w, h int) *tensor.Tensor {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h))))
		return tensor.FromBytes(b.Bytes())
	}
	runner := func(config string) (*datagraph.Plan, *datagraph.Runner) {
		g, err := importAs(t, "hf", []byte(config))
		require.NoError(t, err)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		return p, p.NewRunner()
	}

	p, r := runner(`{"image_processor_type":"Qwen2VLImageProcessor"}`)
	require.Equal(t, []string{"pixel_values", "image_grid_thw"}, names(p))
	_, err := r.Run(encoded(1, 201))
	require.ErrorIs(t, err, transforms.ErrInput)
	require.ErrorContains(t, err, "aspect ratio of 201.0, want at most 200")
	out, err := r.Run(encoded(1, 200))
	require.NoError(t, err)
	require.Equal(t, []int64{1, 58, 2}, tensor.View[int64](out[1]))
	require.Equal(t, tensor.Dims(116, 1176), out[0].Shape)

	p, r = runner(`{"image_processor_type":"Siglip2ImageProcessor"}`)
	require.Equal(t, []string{"pixel_values", "pixel_attention_mask", "spatial_shapes"}, names(p))
	// The number of patches is known before any image is read.
	require.Equal(t, tensor.Dims(256, 768), p.Outputs()[0].Desc.Shape)
	out, err = r.Run(encoded(1, 1<<12))
	require.NoError(t, err)
	require.Equal(t, tensor.Dims(256, 768), out[0].Shape)
	require.Equal(t, []int64{256, 1}, tensor.View[int64](out[2]))
}

func names(p *datagraph.Plan) []string {
	var l []string
	for _, c := range p.Outputs() {
		l = append(l, c.Name)
	}
	return l
}
