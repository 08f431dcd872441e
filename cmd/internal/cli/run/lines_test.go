package run

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadLine: lines of any ends and lengths, and no memory for a long one.
func TestReadLine(t *testing.T) {
	text := "a\r\n\n" + strings.Repeat("b", 100) + "\r\n" + strings.Repeat("c", 101) + "\nd\r\r\n" + strings.Repeat("e", 3<<20) + "\nf" + strings.Repeat("g", 1<<20) + "\nh"
	r := bufio.NewReaderSize(strings.NewReader(text), 16)
	var buf []byte
	for _, want := range []string{"a", "", strings.Repeat("b", 100), "long", "d\r", "long", "long", "h"} {
		line, err := readLine(r, &buf, 100)
		if want == "long" {
			require.Equal(t, errLong, err)
		} else {
			require.NoError(t, err)
			require.Equal(t, want, string(line))
		}
		require.Less(t, cap(buf), 300)
	}
	_, err := readLine(r, &buf, 100)
	require.Equal(t, io.EOF, err)

	r = bufio.NewReader(strings.NewReader(strings.Repeat("x", 5<<20) + "\ny\n"))
	_, err = readLine(r, &buf, 6<<20)
	require.NoError(t, err)
	require.Greater(t, cap(buf), 5<<20)
	_, err = readLine(r, &buf, 6<<20)
	require.NoError(t, err)
	require.Less(t, cap(buf), 1<<20, "a long line does not hold its memory")
}
