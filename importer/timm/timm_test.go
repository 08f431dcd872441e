package timm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/timm"
)

// TestInterpolationIsStated checks that an object that may be a cfg, or the
// arguments of create_transform, must name the interpolation: timm's two
// defaults differ.
func TestInterpolationIsStated(t *testing.T) {
	for _, in := range []string{
		`{"input_size": [3, 32, 32], "crop_pct": 0.9}`,
		`{'input_size': (3, 32, 32), 'mean': (0.5, 0.5, 0.5), 'std': (0.5, 0.5, 0.5), 'normalize': True}`,
		`dict(crop_mode='squash')`,
	} {
		_, err := timm.Import([]byte(in))
		require.ErrorIs(t, err, importer.ErrMissing, in)
		require.ErrorContains(t, err, "missing key interpolation: want the one in use", in)
	}
	for _, in := range []string{
		`{'input_size': (3, 32, 32), 'interpolation': 'bilinear', 'crop_pct': 0.9}`, // either way
		`{"architecture": "resnet50", "input_size": [3, 32, 32]}`,                   // a cfg
		`PretrainedCfg(url='', input_size=(3, 32, 32))`,
		`{"pretrained_cfg": {"input_size": [3, 32, 32]}}`,
	} {
		_, err := timm.Import([]byte(in))
		require.NoError(t, err, in)
	}
}
