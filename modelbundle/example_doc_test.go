package modelbundle

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/hexdoc"
	x "github.com/infer-prep/infer-prep/transforms"
)

// exampleBundle returns the bundle of docs/format/bundle.md.
func exampleBundle(t *testing.T) []byte {
	g := datagraph.New(x.NewDecode()).Rename("pixels")
	g.Reference = "Pillow 13.0.0"
	s, err := MakeGolden(g, "dot.bmp", bmp(1, 1), codec.DefaultLimits())
	require.NoError(t, err)
	return signed(t, create(t, &Content{
		Graph: g, Versions: map[string]string{"Pillow": "13.0.0"}, Labels: []string{"cat", "dog"}, Goldens: []Golden{s},
	}))
}

// TestDocumentExample checks that the bundle printed in docs/format/bundle.md
// opens, and equals the output of Create and Sign.
func TestDocumentExample(t *testing.T) {
	raw := hexdoc.Read(t, "..", "bundle")
	want := exampleBundle(t)
	for i := range min(len(want), len(raw)) {
		require.Equal(t, want[i], raw[i], "at %#04x", i)
	}
	require.Len(t, raw, len(want))
	b := opened(t, raw)
	require.NoError(t, b.Verify(t.Context()))
	require.NoError(t, b.VerifySignature(publicKey(t)))
	require.Equal(t, []string{"cat", "dog"}, b.Labels())
}
