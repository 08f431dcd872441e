package tokens

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
)

// TestBefore: a class without placeholders says so, and the tokens of BLIP-2
// stand once before a text. Its tokenizer must have no image_token.
func TestBefore(t *testing.T) {
	const file = `{"processor_class": "Blip2Processor", "num_query_tokens": 2, "image_processor": {"image_processor_type": "BlipImageProcessor"}}`
	p, err := Parse(Files{Processor: []byte(file), Tokenizer: []byte(`{}`)})
	require.NoError(t, err)
	l, err := p.Images([2]int{1, 1}, [2]int{2, 2})
	require.NoError(t, err)
	require.Equal(t, []Image{{Tokens: 2, TextTokens: 2, Text: "<image><image>", Before: true}, {Before: true}}, l)

	for _, f := range []Files{
		{Processor: []byte(file)},
		{Processor: []byte(file), Tokenizer: []byte(`{"image_token": "<image>"}`)},
		{Processor: []byte(file), Tokenizer: []byte(`{"extra_special_tokens": {"image_token": "<image>"}}`)},
		{Processor: []byte(file), Tokenizer: []byte(`{}`), Tokens: map[string]string{"image_token": "<image>"}},
	} {
		p, err := Parse(f)
		require.Nil(t, p)
		require.ErrorIs(t, err, importer.ErrValue)
		require.ErrorContains(t, err, "image_token")
	}
}
