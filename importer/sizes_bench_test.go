package importer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/hf"
)

// BenchmarkSizes measures the sizes of outputs without pixels. The goal is 2
// microseconds a call.
func BenchmarkSizes(b *testing.B) {
	for name, config := range map[string]string{
		"CLIP":           `{"image_processor_type": "CLIPImageProcessor"}`,
		"Qwen2VL":        `{"image_processor_type": "Qwen2VLImageProcessor"}`,
		"InternVL":       `{"image_processor_type": "GotOcr2ImageProcessor", "crop_to_patches": true}`,
		"LlavaOnevision": `{"image_processor_type": "LlavaOnevisionImageProcessor"}`,
	} {
		b.Run(name, func(b *testing.B) {
			g, err := hf.Import([]byte(config))
			require.NoError(b, err)
			p, err := datagraph.Compile(g, datagraph.CompileOptions{})
			require.NoError(b, err)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, err = p.Sizes(480+i%64, 640)
			}
			require.NoError(b, err)
		})
	}
}
