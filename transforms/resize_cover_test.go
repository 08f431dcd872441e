package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestResizeCover compares with the sizes of timm 1.0.31's ResizeKeepRatio with
// longest 0 (cover) and 1 (inside).
func TestResizeCover(t *testing.T) {
	for _, c := range []struct {
		h, w, height, width int
		fit                 Fit
		want                [2]int
	}{
		{47, 61, 37, 53, FitCover, [2]int{41, 53}},
		{47, 61, 37, 53, FitInside, [2]int{37, 48}},
		{90, 20, 37, 53, FitCover, [2]int{238, 53}},
		{90, 20, 37, 53, FitInside, [2]int{37, 8}},
		{1, 1, 30, 40, FitCover, [2]int{40, 40}},
		{1, 1, 30, 40, FitInside, [2]int{30, 30}},
		{300, 401, 219, 292, FitCover, [2]int{219, 293}},
		{300, 401, 219, 292, FitInside, [2]int{218, 292}},
		{401, 300, 219, 292, FitCover, [2]int{390, 292}},
		{401, 300, 219, 292, FitInside, [2]int{219, 164}},
		{5, 7, 2, 3, FitCover, [2]int{2, 3}},
		{3, 100, 10, 20, FitCover, [2]int{10, 333}},
		{3, 100, 10, 20, FitInside, [2]int{1, 20}},
	} {
		op := &Resize{Fit: c.fit, Height: c.height, Width: c.width, SizeRule: SizeHalfEven}
		require.NoError(t, op.Validate())
		out := make([]tensor.Desc, 1)
		require.NoError(t, op.Infer(out, []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, c.h, c.w, 3)}))
		require.Equal(t, c.want, [2]int{out[0].Height(), out[0].Width()}, "%+v", c)
	}
	text, err := FitCover.MarshalText()
	require.NoError(t, err)
	require.Equal(t, "cover", string(text))
}
