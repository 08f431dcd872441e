package diff

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseDesc(t *testing.T) {
	for s, want := range map[string]string{
		"float32:3,4,5": "float32 (3, 4, 5)", "uint8:4,5,3:HWC": "uint8 HWC (4, 5, 3)", "uint8:3,4,5:chw": "uint8 CHW (3, 4, 5)", "int64:": "int64 ()",
		"float32": "", "float32:3,x": "", "bytes:": "", "float32:-1": "", "float:3": "", "uint8:4,5:HWC": "", "uint8:1:2:3": "", "uint8:1,1,1,1,1,1,1,1,1": "",
		"uint8:4611686018427387904,4": "",
	} {
		d, err := parseDesc(s)
		if want == "" {
			require.Error(t, err, s)
			continue
		}
		require.NoError(t, err, s)
		require.Equal(t, want, d.String())
	}
}
