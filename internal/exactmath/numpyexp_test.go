package exactmath

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumPyExp(t *testing.T) {
	data, err := os.ReadFile("testdata/numpy_exp.json")
	require.NoError(t, err)
	var cases [][2]string
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Len(t, cases, 1604)
	for _, c := range cases {
		var v [2]float64
		for i, s := range c {
			v[i], err = strconv.ParseFloat(s, 64)
			require.NoError(t, err)
		}
		require.Equal(t, v[1], NumPyExp(v[0]), "exp(%s)", c[0])
	}
}
