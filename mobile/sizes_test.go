package mobile

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSizes compares with a run: the same types, layouts and shapes, no data.
func TestSizes(t *testing.T) {
	image, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	bundle, err := os.ReadFile("../testdata/bundle/torchvision.bundle")
	require.NoError(t, err)
	of := func(p *Preprocessor, err error) *Preprocessor {
		require.NoError(t, err)
		return p
	}
	for _, p := range []*Preprocessor{of(OpenGraph([]byte(decodeRGB))), of(Open(bundle))} {
		want, err := p.RunJPEG(image)
		require.NoError(t, err)
		got, err := p.Sizes(310, 420)
		require.NoError(t, err)
		require.Equal(t, want.Outputs(), got.Outputs())
		for i := range want.Outputs() {
			require.Equal(t, want.outputs[i].desc, got.outputs[i].desc)
			require.Zero(t, got.Size(i))
		}
		_, err = p.Sizes(310, 0)
		require.Equal(t, "input", Code(err))
		require.NoError(t, p.Close())
		_, err = p.Sizes(310, 420)
		require.Equal(t, "closed", Code(err))
	}
}
