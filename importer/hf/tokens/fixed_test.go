package tokens

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFixedDefault leaves num_image_tokens out of the file of a processor that
// was made without it: transformers saves its default.
func TestFixedDefault(t *testing.T) {
	var g goldenSizes
	readJSON(t, "sizes", &g)
	for _, name := range []string{"DeepseekVL", "DeepseekVLHybrid", "Janus"} {
		var cases []goldenCase
		readJSON(t, name, &cases)
		c := cases[0]
		require.Equal(t, "absent", c.Name)
		var file map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(c.Processor, &file))
		require.Contains(t, file, "num_image_tokens")
		delete(file, "num_image_tokens")
		b, err := json.Marshal(file)
		require.NoError(t, err)
		p, err := Parse(Files{Processor: b, Tokenizer: c.Tokenizer, Call: c.Call})
		require.NoError(t, err)
		l, err := p.Images(g.Sizes[0])
		require.NoError(t, err)
		require.Equal(t, *c.Own[0], l[0].TextTokens, name)
	}
}
