package eager_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/eager"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestApplySample checks that a mask and boxes move with the image, and that
// the sample itself does not change.
func TestApplySample(t *testing.T) {
	image, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 4, 6, 3))
	require.NoError(t, err)
	mask, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 4, 6, 1))
	require.NoError(t, err)
	boxes, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 4)})
	require.NoError(t, err)
	label := tensor.FromBytes([]byte("cat"))
	clear(image.Data)
	clear(mask.Data)
	mask.Data[1*6+1] = 7
	copy(tensor.View[float32](boxes), []float32{1, 1, 2, 2})
	sample := map[string]*tensor.Tensor{"image": image, "mask": mask, "boxes": boxes, "label": label}
	roles := map[string]transforms.Role{"mask": {Kind: transforms.RoleMask}, "boxes": {Kind: transforms.RoleBoxes, Format: transforms.CoordXYXY}}
	out, err := eager.ApplySample(rng.Point{}, sample, roles, transforms.NewHorizontalFlip(), transforms.NewCrop(1, 2, 3, 4), transforms.NewToTensor())
	require.NoError(t, err)
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 3, 4, 3), out["image"].Desc)
	require.Equal(t, byte(7), out["mask"].Data[0*4+2])
	require.Equal(t, []float32{2, 0, 3, 1}, tensor.View[float32](out["boxes"]))
	require.Same(t, label, out["label"])
	require.Equal(t, []float32{1, 1, 2, 2}, tensor.View[float32](boxes))
	require.Equal(t, byte(7), mask.Data[7])

	out, err = eager.ApplySample(rng.Point{}, sample, roles)
	require.NoError(t, err)
	require.NotSame(t, mask, out["mask"])
	require.Equal(t, mask.Data, out["mask"].Data)

	delete(sample, "mask")
	_, err = eager.ApplySample(rng.Point{}, sample, roles)
	require.ErrorIs(t, err, transforms.ErrInput)
	require.ErrorContains(t, err, `no column "mask"`)
	delete(sample, "image")
	_, err = eager.ApplySample(rng.Point{}, sample, nil)
	require.ErrorContains(t, err, `no column "image"`)
}
