package importer

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManyValues parses small values as many as a file has room for: memory
// stays below 200 MB.
func TestManyValues(t *testing.T) {
	for _, value := range []string{"{}", "[]", "1", `""`, "null"} {
		b := []byte(`{"a":[` + strings.Repeat(value+",", (maxFile-16)/(len(value)+1)) + value + "]}")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(b)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, ErrJSON)
		require.ErrorContains(t, err, "more than 262144 values, at byte ")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20), value)
	}
	o, err := Parse([]byte(`{"a":[` + strings.Repeat("1,", maxValues-3) + "1]}"))
	require.NoError(t, err)
	require.True(t, o.Has("a"))
}
