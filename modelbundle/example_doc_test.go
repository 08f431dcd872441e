package modelbundle

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	x "github.com/infer-prep/infer-prep/transforms"
)

// exampleBundle is that of docs/format/bundle.md.
func exampleBundle(t *testing.T) []byte {
	g := datagraph.New(x.NewDecode()).Rename("pixels")
	g.Reference = "Pillow 13.0.0"
	s, err := MakeGolden(g, "dot.bmp", bmp(1, 1), codec.DefaultLimits())
	require.NoError(t, err)
	return signed(t, create(t, &Content{
		Graph: g, Versions: map[string]string{"Pillow": "13.0.0"}, Labels: []string{"cat", "dog"}, Goldens: []Golden{s},
	}))
}

// TestDocumentExample reads the bundle that docs/format/bundle.md prints: it is what
// Create and Sign write, and it opens.
func TestDocumentExample(t *testing.T) {
	doc, err := os.ReadFile("../docs/format/bundle.md")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(doc), "## Example")
	require.True(t, ok)
	var raw []byte
	for line := range strings.Lines(example) {
		at, rest, ok := strings.Cut(strings.TrimSpace(line), "  ")
		off, err := strconv.ParseUint(at, 16, 32)
		if !ok || err != nil || len(at) != 4 {
			continue
		}
		require.GreaterOrEqual(t, int(off), len(raw), line)
		raw = append(raw, make([]byte, int(off)-len(raw))...) // lines of zeros are left out
		b, err := hex.DecodeString(strings.ReplaceAll(rest[:16*3-1], " ", ""))
		require.NoError(t, err, line)
		raw = append(raw, b...)
	}
	require.NotEmpty(t, raw)
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
