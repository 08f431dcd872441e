package triton_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/importer/triton"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// densenet resembles the configuration among Triton's examples.
const densenet = `
name: "densenet_onnx"
platform: "onnxruntime_onnx"
max_batch_size : 0
input [
  {
    name: "data_0" # the image
    data_type: TYPE_FP32
    format: FORMAT_NCHW
    dims: [ 3, 224, 224 ]
    reshape { shape: [ 1, 3, 224, 224 ] }
  }
]
output [ { name: "fc6_1", data_type: TYPE_FP32, dims: [ 1000 ], label_filename: "densenet_labels.txt" } ]
instance_group < count: 2 kind: KIND_CPU >;
parameters: { key: "a" value: { string_value: 'it\'s "x" \x41\101' "more" } }
dynamic_batching { }
`

func input(body string) string { return "input { " + body + " }" }

func TestParse(t *testing.T) {
	c, err := triton.Parse([]byte(densenet))
	require.NoError(t, err)
	require.Equal(t, &triton.Config{
		Name: "densenet_onnx", Inputs: []triton.Input{{Name: "data_0", DType: tensor.Float32, Layout: tensor.CHW, Dims: []int{3, 224, 224}}},
	}, c)
	c, err = triton.Parse([]byte(`max_batch_size: 8 input: [{name:"a" data_type:TYPE_UINT8 dims:-1 dims:[0x10]}, <name:'b', data_type: TYPE_BF16, dims: [4]>]`))
	require.NoError(t, err)
	require.Equal(t, &triton.Config{MaxBatchSize: 8, Inputs: []triton.Input{
		{Name: "a", DType: tensor.Uint8, Dims: []int{-1, 16}}, {Name: "b", DType: tensor.BFloat16, Dims: []int{4}},
	}}, c)
	marked, err := triton.Parse([]byte("\ufeff" + densenet)) // a byte order mark
	require.NoError(t, err)
	require.Equal(t, "densenet_onnx", marked.Name)
}

func TestParseRefusals(t *testing.T) {
	for in, c := range map[string]struct {
		kind error
		want string
	}{
		``:                       {importer.ErrMissing, "input"},
		`name: "x"`:              {importer.ErrMissing, "input"},
		`name "x"`:               {importer.ErrFormat, "colon"},
		`name: "x`:               {importer.ErrFormat, "line 1: unterminated string"},
		"a: 1\nname: \"x\n\"":    {importer.ErrFormat, "line 2"},
		`name: "\q"`:             {importer.ErrFormat, `\q`},
		`name: "\x"`:             {importer.ErrFormat, `\x`},
		`name:`:                  {importer.ErrFormat, "value"},
		`input {`:                {importer.ErrFormat, "unexpected end of file, want '}'"},
		`input [ {}`:             {importer.ErrFormat, "comma"},
		`input }`:                {importer.ErrFormat, "colon"},
		`}`:                      {importer.ErrFormat, "name of a field"},
		`[x.y/z] { }`:            {importer.ErrFormat, "name of a field"},
		strings.Repeat("a{", 99): {importer.ErrFormat, "deep"},
		`zoom: 1 ` + input(`name: "a" data_type: TYPE_FP32 dims: 1`):             {importer.ErrUnknownKey, "zoom"},
		input(`name: "a" data_type: TYPE_FP32 dims: 1 zoom: 1`):                  {importer.ErrUnknownKey, "input.0.zoom"},
		input(`name: "a" data_type: TYPE_FP32`):                                  {importer.ErrMissing, "input.0.dims"},
		input(`name: a data_type: TYPE_FP32 dims: 1`):                            {importer.ErrValue, "input.0.name"},
		input(`name: "a" data_type: TYPE_STRING dims: 1`):                        {importer.ErrValue, "TYPE_STRING"},
		input(`name: "a" data_type: TYPE_FP32 dims: -2`):                         {importer.ErrValue, "dims"},
		input(`name: "a" data_type: TYPE_FP32 dims: 1 format: NCHW`):             {importer.ErrValue, "format"},
		input(`name: "a" name: "b" data_type: TYPE_FP32 dims: 1`):                {importer.ErrValue, "twice"},
		input(`name: "a" data_type: TYPE_FP32 dims: 1 is_shape_tensor: true`):    {importer.ErrValue, "is_shape_tensor"},
		strings.Repeat(input(`name: "a" data_type: TYPE_FP32 dims: 1`), 2):       {importer.ErrValue, "twice"},
		`max_batch_size: "8" ` + input(`name: "a" data_type: TYPE_FP32 dims: 1`): {importer.ErrValue, "max_batch_size"},
		`input: 7`: {importer.ErrValue, "input"},
	} {
		_, err := triton.Parse([]byte(in))
		require.ErrorIs(t, err, c.kind, in)
		require.ErrorContains(t, err, c.want, in)
		require.ErrorContains(t, err, "importer: triton: ", in)
	}
}

func imagenet(t *testing.T) *datagraph.Graph {
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	return g
}

func TestFit(t *testing.T) {
	fit := func(text string, g *datagraph.Graph) error {
		c, err := triton.Parse([]byte(text))
		require.NoError(t, err)
		return c.Fit(g)
	}
	g := imagenet(t)
	require.NoError(t, fit(densenet, g))
	require.Equal(t, []string{"data_0"}, g.Outputs)
	require.NoError(t, g.Validate())

	for _, ok := range []string{
		`name: "x" data_type: TYPE_FP32 dims: [3, -1, 224]`, `name: "x" data_type: TYPE_FP32 dims: [1, 3, 224, 224]`,
		`name: "x" data_type: TYPE_FP32 dims: [-1, 3, 224, 224]`,
	} {
		require.NoError(t, fit(input(ok), imagenet(t)), ok)
	}
	for body, want := range map[string]string{
		`name: "x" data_type: TYPE_UINT8 dims: [3, 224, 224]`:                    "wants dtype uint8",
		`name: "x" data_type: TYPE_FP32 dims: [224, 224, 3] format: FORMAT_NHWC`: "wants dims [224 224 3], wants layout HWC",
		`name: "x" data_type: TYPE_FP32 dims: [3, 224, 225]`:                     "wants dims",
		`name: "x" data_type: TYPE_FP32 dims: [2, 3, 224, 224]`:                  "wants dims",
		`name: "x y" data_type: TYPE_FP32 dims: [3, 224, 224]`:                   "x y",
	} {
		g := imagenet(t)
		err := fit(input(body), g)
		require.ErrorIs(t, err, importer.ErrValue, body)
		require.ErrorContains(t, err, want)
		require.Equal(t, imagenet(t), g)
	}
	require.ErrorContains(t, fit("max_batch_size: 4 "+input(`name: "x" data_type: TYPE_FP32 dims: [1, 3, 224, 224]`), imagenet(t)), "wants dims")
	require.ErrorContains(t, fit(input(`name: "x" data_type: TYPE_FP32 dims: 1`)+input(`name: "y" data_type: TYPE_FP32 dims: 1`), imagenet(t)), "x, y")

	// The model has two inputs: one matches an output by name, the other takes
	// the remaining output.
	two := datagraph.New(transforms.NewDecode(), transforms.NewLetterbox(64, 64))
	two.Outputs, two.SideOutputs = []string{"image", "pad"}, []string{"scale"}
	text := input(`name: "pad" data_type: TYPE_INT32 dims: 4`) + input(`name: "pixels" data_type: TYPE_UINT8 dims: [64, 64, 3]`)
	require.NoError(t, fit(text, two))
	require.Equal(t, []string{"pixels", "pad"}, two.Outputs)
	require.ErrorContains(t, fit(strings.ReplaceAll(text, "pixels", "scale"), two), "side output")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(densenet))
	f.Add([]byte(`input: [{name:"a" data_type:TYPE_UINT8 dims:-1 dims:[0x10]}, <name:'b\x41', data_type: TYPE_BF16, dims: [4]>]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := triton.Parse(in)
		if (c == nil) == (err == nil) {
			t.Fatalf("configuration %v, error %v", c, err)
		}
		if err == nil {
			g := datagraph.New(transforms.NewDecode())
			if c.Fit(g) == nil {
				require.NoError(t, g.Validate())
			}
		}
	})
}
