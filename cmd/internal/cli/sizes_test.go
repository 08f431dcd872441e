package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type sizesLine struct {
	Image   string
	Size    []int
	Outputs map[string]struct {
		DType string
		Shape []int
	}
	Error string
}

func sizesLines(t *testing.T, out string) (l []sizesLine) {
	for line := range strings.Lines(out) {
		var s sizesLine
		require.NoError(t, json.Unmarshal([]byte(line), &s), line)
		l = append(l, s)
	}
	return l
}

func TestSizes(t *testing.T) {
	const hf = "../../../testdata/configs/hf/qwen2-vl-2b-instruct.json"
	image := filepath.Join(t.TempDir(), "480x640")
	require.NoError(t, os.WriteFile(image, pngBytes(t, 640, 480, 0), 0o666))
	l := sizesLines(t, succeed(t, "sizes", "--hf", hf, "480x640", image))
	require.Len(t, l, 2)
	require.Equal(t, []int{480, 640}, l[0].Size)
	require.Equal(t, []int{1564, 1176}, l[0].Outputs["pixel_values"].Shape) // 34 x 46 patches of 14 x 14 pixels
	require.Equal(t, "float32", l[0].Outputs["pixel_values"].DType)
	require.Equal(t, []int{3}, l[0].Outputs["image_grid_thw"].Shape)
	require.Equal(t, image, l[1].Image)
	l[1].Image = ""
	require.Equal(t, l[0], l[1])

	// The size is that after the orientation was applied.
	turned := "../../../testdata/images/jpeg_exif_ii_6.jpg"
	up := sizesLines(t, succeed(t, "sizes", "--preset", "decode", "--exif", turned))[0]
	flat := sizesLines(t, succeed(t, "sizes", "--preset", "decode", "--exif=false", turned))[0]
	require.Equal(t, []int{flat.Size[1], flat.Size[0]}, up.Size)
	require.Equal(t, append(up.Size, 3), up.Outputs["image"].Shape)
}

// TestSizesFail: an argument that fails has a line of its own, and the others
// are answered.
func TestSizesFail(t *testing.T) {
	const hf = "../../../testdata/configs/hf/qwen2-vl-2b-instruct.json"
	missing := filepath.Join(t.TempDir(), "missing")
	r := call(t, "sizes", "--hf", hf, "1x3000", "0x5", missing, "99999999999999999999x3", "sizes_test.go", "28x28")
	require.Equal(t, 1, r.status)
	l := sizesLines(t, r.stdout)
	require.Len(t, l, 6)
	for i, want := range []string{"want at most 200", "want 1 or more", "no such file", "want HEIGHTxWIDTH", "unknown format", ""} {
		require.Contains(t, l[i].Error, want)
		require.Equal(t, want != "", l[i].Error != "")
		require.Contains(t, r.stderr, want)
	}
	require.Equal(t, []int{1, 3000}, l[0].Size)
	require.NotEmpty(t, l[5].Outputs)

	r = call(t, "sizes", "--hf", hf)
	require.Equal(t, 2, r.status)
	require.Contains(t, r.stderr, "want sizes such as 480x640, or images")
}
