package importer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestSizeRefusals checks the errors of the classes with sizes, crops and
// padding of their own, by name.
func TestSizeRefusals(t *testing.T) {
	for _, c := range []struct {
		importer, class, in string
		kind                error
		want                string
	}{
		{"hf", "GLPN", `"size_divisor":0`, importer.ErrValue, "size_divisor: 0"},
		{"hf", "GLPN", `"size_divisor":null`, importer.ErrValue, "size_divisor: null"},
		{"hf", "GLPN", `"min_size":3`, importer.ErrUnknownKey, "min_size"},
		{"hf", "TextNet", `"size":[3,4]`, importer.ErrValue, "size: [3, 4], want shortest_edge"},
		{"hf", "PPLCNet", `"resize_short":"x"`, importer.ErrValue, `resize_short: "x"`},
		{"hf", "Perceiver", `"size":{"shortest_edge":4}`, importer.ErrValue, "want height and width, for do_center_crop"},
		{"hf", "Perceiver", `"crop_size":{"shortest_edge":4}`, importer.ErrValue, "crop_size: an object, want height and width"},
		{"hf", "Idefics", `"image_size":-1`, importer.ErrValue, "image_size: -1"},
		{"hf", "MaskFormer", `"size":100`, importer.ErrValue, "size: 100, want height and width, shortest_edge and longest_edge"},
		{"hf", "MaskFormer", `"size_divisor":-1`, importer.ErrValue, "size_divisor: -1, want a whole number of 0 to 16777216"},
		{"hf", "MaskFormer", `"pad_size":{"shortest_edge":5}`, importer.ErrValue, "pad_size: an object, want height and width"},
		{"hf", "Vilt", `"size":[3,4]`, importer.ErrValue, "size: [3, 4], want shortest_edge"},
		{"hf", "BridgeTower", `"crop_size":288`, importer.ErrValue, "crop_size: 288, want shortest_edge"},
		{"hf", "Llava", `"do_pad":true,"image_mean":0.5`, importer.ErrValue, "image_mean: 0.5, want three numbers of 0 to 1, for do_pad"},
		{"hf", "Llava", `"do_pad":true,"image_mean":[0.5,1.5,0.5]`, importer.ErrValue, "want three numbers of 0 to 1"},
		{"hf", "Janus", `"image_mean":0.5`, importer.ErrValue, "image_mean: 0.5, want three numbers"},
		{"hf", "Janus", `"size":[3,4]`, importer.ErrValue, "size: [3, 4], want equal height and width"},
		{"hf", "Janus", `"min_size":-1`, importer.ErrValue, "min_size: -1, want a whole number of 0 to 16777216"},
		{"hf", "Sam2", `"mask_size":{"depth":3}`, importer.ErrValue, "mask_size"},
		{"hf", "Swin2SR", `"size_divisor":null`, importer.ErrValue, "size_divisor: null"},
		{"hf", "Swin2SR", `"pad_size":{"height":8,"width":8}`, importer.ErrValue, "pad_size: an object"},
		{"hf", "DINOv3ViT", `"do_rescale":false`, importer.ErrValue, "do_normalize: absent, want false without do_rescale"},
		{"hf", "DepthPro", `"resample":1`, importer.ErrValue, "resample: 1, want 0, 2 or 3: torchvision has no lanczos without antialiasing"},
		{"hf", "PPDocLayoutV4", `"rescale_factor":-1`, importer.ErrValue, "rescale_factor: -1, want a number of at least 0"},
		{"hf", "RfDetr", `"format":"voc"`, importer.ErrValue, "format"},
		{"hf", "ZoeDepth", `"ensure_multiple_of":0.3`, importer.ErrValue, "ensure_multiple_of: 0.3, want a whole number"},
		{"hf", "ZoeDepth", `"resample":0`, importer.ErrValue, "resample: 0, want 2 or 3"},
		{"hf", "ZoeDepth", `"size":{"shortest_edge":4}`, importer.ErrValue, "want height and width"},
		{"hf-pil", "Tvp", `"pad_size":null`, importer.ErrValue, "pad_size: null, want height and width"},
		{"hf-pil", "Tvp", `"pad_mode":"edge"`, importer.ErrValue, "pad_mode"},
		{"hf-pil", "Tvp", `"constant_values":[1,2,3]`, importer.ErrValue, "constant_values: [1, 2, 3], want a number"},
		{"hf", "Vivit", `"do_rescale":false`, importer.ErrValue, "offset: absent, want false without do_rescale"},
		{"hf", "VideoLlava", `"size":{"longest_edge":9}`, importer.ErrValue, "size: an object, want shortest_edge, or height and width"},
	} {
		_, err := importAs(t, c.importer, []byte(`{"image_processor_type":"`+c.class+`ImageProcessor",`+c.in+`}`))
		require.ErrorIs(t, err, c.kind, "%s %s", c.class, c.in)
		require.ErrorContains(t, err, c.want, "%s %s", c.class, c.in)
	}
}

// TestVideoOutputs checks names and shapes of the outputs of classes that take
// videos.
func TestVideoOutputs(t *testing.T) {
	for class, want := range map[string]struct {
		name  string
		shape tensor.Shape
	}{
		"VideoMAE":   {"pixel_values", tensor.Dims(1, 3, 224, 224)},
		"Tvp":        {"pixel_values", tensor.Dims(1, 3, 448, 448)},
		"Vivit":      {"pixel_values", tensor.Dims(1, 3, 224, 224)},
		"VideoLlava": {"pixel_values_images", tensor.Dims(3, 224, 224)},
	} {
		g, err := importAs(t, "hf", []byte(`{"image_processor_type":"`+class+`ImageProcessor"}`))
		require.NoError(t, err, class)
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err, class)
		require.Equal(t, []string{want.name}, names(p), class)
		require.Equal(t, want.shape, p.Outputs()[0].Desc.Shape, class)
	}
}
