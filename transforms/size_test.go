package transforms

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// sizeRules are an op's parameters, and sizes with the reference's results.
type sizeRules[S any] []struct {
	Params json.RawMessage `json:"params"`
	Sizes  []S             `json:"sizes"`
}

func readSizeRules[S any](t *testing.T, path ...string) (rules sizeRules[S]) {
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &rules))
	require.NotEmpty(t, rules)
	return rules
}

// TestSizes compares the size rules with their libraries; see
// testdata/gen/ops/resize.py.
func TestSizes(t *testing.T) {
	rules := readSizeRules[[4]int](t, "resize", "sizes.json")
	for _, r := range rules {
		op, err := UnmarshalParams("resize", 1, r.Params)
		require.NoError(t, err)
		var got [1]tensor.Desc
		for _, s := range r.Sizes {
			err := op.Infer(got[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, s[0], s[1], 3)})
			if s[2] < 1 || s[3] < 1 {
				require.ErrorIs(t, err, ErrInput, "%s %v", r.Params, s)
				continue
			}
			require.NoError(t, err, "%s %v", r.Params, s)
			require.Equal(t, [2]int{s[2], s[3]}, [2]int{got[0].Height(), got[0].Width()}, "%s of %v", r.Params, s)
		}
	}
}

// TestSizesWithoutReference tests rules that no reference combines with the
// fit.
func TestSizesWithoutReference(t *testing.T) {
	for _, k := range []struct {
		op           Resize
		h, w, oh, ow int
	}{
		{Resize{Fit: FitShortest, Edge: 10, SizeRule: SizeHalfUp}, 20, 33, 10, 17},               // 16.5 rounds up
		{Resize{Fit: FitShortest, Edge: 10, SizeRule: SizeHalfEven}, 20, 33, 10, 16},             // 16.5 rounds to even
		{Resize{Fit: FitShortest, Edge: 10, SizeRule: SizeTruncate}, 33, 20, 16, 10},             // portrait
		{Resize{Fit: FitShortest, Edge: 10, MaxEdge: 12, SizeRule: SizeHalfEven}, 20, 33, 7, 12}, // 7.27
		{Resize{Fit: FitShortest, Edge: 10, MaxEdge: 12, SizeRule: SizeHalfUp}, 33, 20, 12, 7},   //
		{Resize{Fit: FitInside, Height: 10, Width: 30, SizeRule: SizeHalfUp}, 40, 50, 10, 13},    // 12.5
		{Resize{Fit: FitMultiple, Height: 30, Width: 46, Multiple: 4, SizeRule: SizeHalfUp}, 9, 9, 32, 48},
		{Resize{Fit: FitMultiple, Height: 30, Width: 46, Multiple: 4, SizeRule: SizeHalfEven}, 9, 9, 32, 48},
		{Resize{Fit: FitMultiple, Height: 30, Width: 47, Multiple: 4, SizeRule: SizeTruncate}, 9, 9, 28, 44},
	} {
		require.NoError(t, k.op.Validate(), "%+v", k.op)
		h, w, err := k.op.sized(k.h, k.w)
		require.NoError(t, err)
		require.Equal(t, [2]int{k.oh, k.ow}, [2]int{h, w}, "%+v of %d x %d", k.op, k.h, k.w)
	}
}

func TestSizesUnknown(t *testing.T) {
	in := tensor.Image(tensor.Float32, tensor.CHW, tensor.Unknown, 30, 3)
	var out [3]tensor.Desc
	require.NoError(t, NewResizeShortest(20).Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, tensor.Unknown, tensor.Unknown, 3), out[0])
	require.NoError(t, NewResize(20, 10).Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 20, 10, 3), out[0])
	require.NoError(t, NewResizedCrop(5, 6, 7, 8, 9, 10).Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 9, 10, 3), out[0])
	require.NoError(t, NewLetterbox(20, 10).Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 20, 10, 3), out[0])
	auto := NewLetterbox(20, 10)
	auto.Auto = true
	require.NoError(t, auto.Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, tensor.Unknown, tensor.Unknown, 3), out[0])
}

// TestSizeTruncateGap checks that a reduction to a quarter is refused.
func TestSizeTruncateGap(t *testing.T) {
	op := &Resize{Fit: FitThumbnail, Height: 20, Width: 20, SizeRule: SizeTruncateGap}
	var out [1]tensor.Desc
	require.NoError(t, op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 79, 79, 3)}))
	refusesInput(t, "want a factor below 4", op, tensor.Image(tensor.Uint8, tensor.HWC, 80, 80, 3))
	refusesInput(t, "want a factor below 4", op, tensor.Image(tensor.Uint8, tensor.HWC, 70, 3, 3).WithSize(80, 17))
	refusesParam(t, "size_rule truncate_gap with fit exact, want [truncate half_even half_up]", &Resize{Fit: FitExact, Height: 20, Width: 20, SizeRule: SizeTruncateGap})
}
