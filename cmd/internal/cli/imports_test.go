package cli

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
)

// TestImportModels: model files are imported like JSON files, and --triton
// renames and checks the outputs.
func TestImportModels(t *testing.T) {
	config := func(name string) string {
		return filepath.Join("..", "..", "..", "testdata", "configs", filepath.FromSlash(name))
	}
	for flag, file := range map[string]string{
		"--tflite": "tflite/mobilenet_v1.tflite", "--mindir": "mindir/resnet.mindir", "--keras": "keras/resnet50.json", "--opencv": "opencv/yolo.json",
	} {
		r := call(t, "graph", "import", flag, config(file))
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		var g datagraph.Graph
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &g), file)
		require.Contains(t, call(t, "graph", "import", flag, config("hf/clip-vit-base-patch32.json")).stderr, "importer: "+flag[2:]+": ")
	}

	pbtxt := func(body string) string {
		return filepath.Join(tree(t, map[string][]byte{"config.pbtxt": []byte(body)}), "config.pbtxt")
	}
	file := pbtxt(`max_batch_size: 8 input { name: "pixels" data_type: TYPE_FP32 format: FORMAT_NCHW dims: [3, 416, 416] }`)
	r := call(t, "graph", "import", "--opencv", config("opencv/yolo.json"), "--triton", file)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var g datagraph.Graph
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &g))
	require.Equal(t, []string{"pixels"}, g.Outputs)

	half := pbtxt(`max_batch_size: 8 input { name: "pixels" data_type: TYPE_FP16 dims: [416, 416, 3] }`)
	r = call(t, "graph", "import", "--opencv", config("opencv/yolo.json"), "--triton", half)
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "wants dtype float16, wants dims [416 416 3]")
	r = call(t, "graph", "import", "--opencv", config("opencv/yolo.json"), "--dtype", "float16", "--layout", "HWC", "--triton", half)
	require.Equal(t, command.ExitOK, r.status, r.stderr)

	r = call(t, "graph", "import", "--preset", "clip", "--triton", pbtxt("input {"))
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "config.pbtxt: importer: triton: ")
}
