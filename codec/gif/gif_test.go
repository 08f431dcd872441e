package gif

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }

// TestRefuseCanvas refuses the images of which decode_image of torchvision
// 0.29.2 has other pixels than Pillow, and no other.
func TestRefuseCanvas(t *testing.T) {
	differ := []string{
		"1bit_local_only", "1bit_transparent", "2bit_local_only", "2bit_transparent", "4bit_local_only", "4bit_transparent",
		"8bit_local_only", "8bit_transparent", "gray_local", "gray_transparent", "offset", "offset_gray", "offset_transparent",
		"animated", "beyond",
	}
	files, err := filepath.Glob("../../testdata/images/gif_*.gif")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, "../../testdata/damaged/gif_beyond.gif") // a frame outside the screen
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		_, err = codec.Decode(b, &codec.Options{Refuse: codec.RefuseCanvas})
		if name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(f), ".gif"), "gif_"); slices.Contains(differ, name) {
			require.ErrorIs(t, err, codec.ErrUnsupported, f)
			require.ErrorContains(t, err, "a frame unlike its screen", f)
			continue
		}
		require.NoError(t, err, f)
	}
}
