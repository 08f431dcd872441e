package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestConvertColor(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 200, 100, 50)
	for _, k := range []struct {
		to   ColorSpace
		by   Backend
		want []byte
	}{
		{RGB, OpenCV, []byte{200, 100, 50}},
		{BGR, OpenCV, []byte{50, 100, 200}},
		{RGBA, Pillow, []byte{200, 100, 50, 255}},
		{BGRA, OpenCV, []byte{50, 100, 200, 255}},
		{Gray, OpenCV, []byte{124}},
		{Gray, Pillow, []byte{124}},
		{HSV, OpenCV, []byte{10, 191, 200}},
		{HSV, Pillow, []byte{14, 191, 200}},
		{YCrCb, OpenCV, []byte{124, 182, 86}},
		{YCrCb, Pillow, []byte{124, 182, 86}},
	} {
		got := applyOne(t, &ConvertColor{From: RGB, To: k.to, Backend: k.by}, x)
		require.Equal(t, k.want, got.Data, "%v by %v", k.to, k.by)
	}
	refusesParam(t, "from", NewConvertColor(9, RGB))
	refusesParam(t, "to", NewConvertColor(RGB, 9))
	refusesParam(t, "backend", &ConvertColor{From: RGB, To: BGR, Backend: Torch})
	refusesInput(t, "want [1] channels", NewConvertColor(Gray, RGB), rgb8)
	refusesInput(t, "want [4] channels", NewConvertColor(BGRA, RGB), rgb8)
	refusesInput(t, "want dtype", NewConvertColor(RGB, BGR), rgb32)
}
