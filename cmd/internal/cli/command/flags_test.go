package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		back string
	}{
		{"0", 0, "0"}, {"17", 17, "17"}, {"100000000", 100e6, "100M"}, {"400M", 400e6, "400M"},
		{"2Gi", 2 << 30, "2Gi"}, {"1G", 1e9, "1G"}, {"5k", 5000, "5k"}, {"64Ki", 1 << 16, "64Ki"}, {"3Mi", 3 << 20, "3Mi"},
	} {
		var n Count
		require.NoError(t, n.Set(c.text), c.text)
		require.Equal(t, c.n, int64(n), c.text)
		require.Equal(t, c.back, n.String(), c.text)
	}
	for _, s := range []string{"", "x", "-1", "1T", "1.5G", "M", "9999999999999G"} {
		var n Count
		require.Error(t, n.Set(s), s)
	}
}
