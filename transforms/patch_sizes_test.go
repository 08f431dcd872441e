package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestPatchSizes compares the sizes of thumbnails and of ops for patches with
// the reference's; see testdata/gen/ops/patches.py.
func TestPatchSizes(t *testing.T) {
	for op, file := range map[string]string{"smart_resize": "sizes.json", "resize_to_patches": "sizes.json", "resize": "thumbnail.json"} {
		rules := readSizeRules[[4]int](t, op, file)
		refused := 0
		for _, r := range rules {
			o, err := UnmarshalParams(op, 1, r.Params)
			require.NoError(t, err)
			var got [1]tensor.Desc
			for _, s := range r.Sizes {
				err := o.Infer(got[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, s[0], s[1], 3)})
				if s[2] == 0 {
					require.ErrorIs(t, err, ErrInput, "%s %v", r.Params, s)
					refused++
					continue
				}
				require.NoError(t, err, "%s %v", r.Params, s)
				require.Equal(t, [2]int{s[2], s[3]}, [2]int{got[0].Height(), got[0].Width()}, "%s of %v", r.Params, s)
				p, err := o.(Scaled).Scale(s[0], s[1], nil)
				require.NoError(t, err)
				require.Equal(t, [2]int{s[2], s[3]}, [2]int{p.Place.Height, p.Place.Width})
			}
		}
		if op != "resize_to_patches" { // it accepts every image
			require.NotZero(t, refused, op)
		}
	}
}

func TestThumbnailParameters(t *testing.T) {
	o := &Resize{Fit: FitThumbnail, Height: 3, Width: 4}
	require.NoError(t, o.Validate())
	refusesParam(t, "size_rule", &Resize{Fit: FitThumbnail, Height: 3, Width: 4, SizeRule: SizeHalfUp})
	refusesParam(t, "height", &Resize{Fit: FitThumbnail, Width: 4})
	refusesParam(t, "edge", &Resize{Fit: FitThumbnail, Height: 3, Width: 4, Edge: 2})
}
