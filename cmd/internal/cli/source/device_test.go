package source

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/device"
	_ "github.com/infer-prep/infer-prep/device/ort"
	"github.com/infer-prep/infer-prep/modelbundle"
)

func TestLeast(t *testing.T) {
	for _, c := range []struct {
		flag, bundle string
		want         device.Class
	}{{"", "", device.Approximate}, {"within1", "", device.Within1}, {"", modelbundle.Exact, device.Exact}, {"approximate", modelbundle.Within1, device.Within1}} {
		got, err := (&DeviceFlags{Least: c.flag}).Class(c.bundle)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}
