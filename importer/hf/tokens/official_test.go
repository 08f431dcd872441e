package tokens

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOfficialFiles: published preprocessor_config.json files have all that the
// classes need of the image processor.
func TestOfficialFiles(t *testing.T) {
	given := map[string]string{newlines: "1"}
	for _, name := range []string{
		"image_token", "boi_token", "eoi_token", "context_image_token", "start_image_token", "end_image_token", "img_line_break_token",
		"image_wrapper_token", "eof_token", "image_start_token", "image_end_token", "fake_image_token", "global_image_token", "image_thumbnail_token", "image_boundary_token",
	} {
		given[name] = "<" + name + ">"
	}
	// What the processors have no default for.
	const processor = `{"patch_size": 14, "num_image_tokens": 729}`
	files, err := filepath.Glob("../../../testdata/configs/hf/*.json")
	require.NoError(t, err)
	n := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		var head struct {
			ProcessorClass string `json:"processor_class"`
		}
		require.NoError(t, json.Unmarshal(b, &head))
		if !slices.Contains(Classes(), head.ProcessorClass) {
			continue
		}
		n++
		t.Run(filepath.Base(file), func(t *testing.T) {
			p, err := Parse(Files{Processor: []byte(processor), Preprocessor: b, Tokens: given})
			require.NoError(t, err)
			l, err := p.Images([2]int{480, 640})
			require.NoError(t, err)
			require.Positive(t, l[0].TextTokens)
			require.NotEmpty(t, l[0].Text)
		})
	}
	require.Greater(t, n, 25)
}
