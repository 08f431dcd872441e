package transforms

import (
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

// wantImage refuses a description that is not an image's, or whose dtype is
// none of those named; no name means any.
func wantImage(d tensor.Desc, dtypes ...tensor.DType) error {
	if !d.IsImage() {
		return inputErr("%v, want an image (layout HWC or CHW)", d)
	}
	if len(dtypes) > 0 && !slices.Contains(dtypes, d.DType) {
		return inputErr("%v, want dtype %v", d, dtypes)
	}
	return nil
}
