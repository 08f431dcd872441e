package importer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestDecoders compares with what transformers, vLLM and SGLang read from the
// files of testdata/images. The graph refuses what the program refuses or gives
// no image of three channels.
func TestDecoders(t *testing.T) {
	b, err := os.ReadFile("hf/testdata/decoders.json")
	require.NoError(t, err)
	var list []struct {
		Decoder string
		Convert bool `json:"do_convert_rgb"`
		Files   map[string]*string
	}
	require.NoError(t, json.Unmarshal(b, &list))
	hf, err := importer.Lookup("hf")
	require.NoError(t, err)
	var names []string
	for _, c := range list {
		if names = append(names, c.Decoder); c.Decoder == "sglang" {
			names = append(names, "pillow") // the same for this class
		}
	}
	for name := range hf.Decoders {
		require.Contains(t, names, name)
	}
	for _, c := range list {
		config := fmt.Sprintf(`{"image_processor_type":"CLIPImageProcessor","do_convert_rgb":%v,
			"do_resize":false,"do_center_crop":false,"do_rescale":false,"do_normalize":false}`, c.Convert)
		o := importer.Options{Decoder: c.Decoder}
		if c.Decoder == "load_image" {
			o.Backend = "pil"
		}
		g, err := hf.Open([]byte(config), o)
		require.NoError(t, err)
		require.Contains(t, g.Reference, ", decoder "+c.Decoder)
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		r := plan.NewRunner()
		equal := 0
		for name, want := range c.Files {
			data, err := os.ReadFile("../testdata/images/" + name)
			require.NoError(t, err)
			got, err := r.Run(tensor.FromBytes(data))
			if want == nil {
				require.Error(t, err, "%s %s", c.Decoder, name)
				continue
			}
			require.NoError(t, err, "%s %s", c.Decoder, name)
			s, sum := got[0].Shape, sha256.Sum256(got[0].Data)
			require.Equal(t, *want, fmt.Sprintf("%dx%d %s", s.At(2), s.At(1), hex.EncodeToString(sum[:8])), "%s %v %s", c.Decoder, c.Convert, name)
			equal++
		}
		t.Logf("%s, do_convert_rgb %v: %d of %d are equal, the others are refused", c.Decoder, c.Convert, equal, len(c.Files))
		require.Greater(t, equal, 250)
	}
}

// TestDecoderErrors checks the errors of decoders.
func TestDecoderErrors(t *testing.T) {
	hf, err := importer.Lookup("hf")
	require.NoError(t, err)
	timm, err := importer.Lookup("timm")
	require.NoError(t, err)
	const clip = `{"image_processor_type":"CLIPImageProcessor"}`
	for _, c := range []struct {
		i                  importer.Importer
		file, name, wanted string
	}{
		{hf, clip, "torchcode", `did you mean "torchcodec"?`},
		{timm, `{"input_size":[3,224,224],"interpolation":"bicubic"}`, "vllm", "timm has no decoders"},
		{hf, `{"image_processor_type":"VitMatteImageProcessor"}`, "vllm", "the class reads image files in a way of its own"},
	} {
		_, err := c.i.Open([]byte(c.file), importer.Options{Decoder: c.name})
		require.ErrorIs(t, err, importer.ErrDecoder)
		require.ErrorContains(t, err, c.wanted)
	}
	// SGLang turns images upright for GLM-4V alone.
	for class, orientation := range map[string]string{"Glm4vImageProcessor": "apply", "Qwen2VLImageProcessor": "ignore"} {
		g, err := hf.Open([]byte(`{"image_processor_type":"`+class+`"}`), importer.Options{Decoder: "sglang"})
		require.NoError(t, err)
		require.Equal(t, orientation, g.Steps[0].Op.(*transforms.Decode).Orientation.String())
	}
}
