package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer/hf"
)

func TestImporters(t *testing.T) {
	r := call(t, "importers")
	require.Equal(t, exitOK, r.status)
	require.Regexp(t, `(?m)^--hf +pil, torchvision +Hugging Face's preprocessor_config.json`, r.stdout)
	require.Regexp(t, `(?m)^--onnx {10,}an ONNX model`, r.stdout)
	require.Equal(t, exitUsage, call(t, "importers", "hf").status)
}

// TestCoverage checks that the table has every class of hf.Classes, with its
// state.
func TestCoverage(t *testing.T) {
	r := call(t, "importers", "--coverage")
	require.Equal(t, exitOK, r.status)
	require.Regexp(t, `(?m)^ViTImageProcessor +exact +torchvision \d+, pil \d+$`, r.stdout)
	require.Regexp(t, `(?m)^TimmWrapperImageProcessor +refused +numpy: its steps are those of timm's config`, r.stdout)
	require.Regexp(t, `(?m)^Pix2StructImageProcessor +partial +torchvision \d+, pil \d+: torchvision refuses do_normalize`, r.stdout)

	r = call(t, "importers", "--coverage", "--json")
	require.Equal(t, exitOK, r.status)
	var table coverageJSON
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &table))
	require.Equal(t, hf.Version, table.Transformers)
	require.Len(t, table.Classes, len(hf.Classes()))
	exact := 0
	for _, c := range table.Classes {
		require.Equal(t, c.State == "exact", c.Reason == "", c.Class)
		if c.State == "exact" {
			exact++
		}
	}
	require.Equal(t, exact, table.Exact)
}
