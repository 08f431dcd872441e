package tokens

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdefics2Marks: a tokenizer without image_token has the class's own marks.
// The text is what Idefics2Processor of transformers 5.23.0 tokenizes.
func TestIdefics2Marks(t *testing.T) {
	const file = `{"processor_class": "Idefics2Processor", "image_seq_len": 2, "image_processor": {"image_processor_type": "Idefics2ImageProcessor", "do_image_splitting": true}}`
	p, err := Parse(Files{Processor: []byte(file), Tokenizer: []byte(`{}`)})
	require.NoError(t, err)
	l, err := p.Images([2]int{30, 30})
	require.NoError(t, err)
	const part, fake = "<image><image>", "<fake_token_around_image>"
	require.Equal(t, fake+part+fake+part+fake+part+fake+part+fake+part+fake, l[0].Text)
	require.Equal(t, 10, l[0].Tokens)
}
