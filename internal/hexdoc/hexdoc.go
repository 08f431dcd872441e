// Package hexdoc reads the worked examples of docs/format, for tests.
package hexdoc

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var line = regexp.MustCompile(`(?m)^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?){1,16})`)

// Read returns the file whose hex dump docs/format/NAME.md shows. Each line has
// an offset, 16 bytes and a remark. The dump may omit lines of zeros.
func Read(t testing.TB, root, name string) (file []byte) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "format", name+".md"))
	require.NoError(t, err)
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		at, err := hex.DecodeString(m[1])
		require.NoError(t, err)
		b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
		require.NoError(t, err)
		gap := int(binary.BigEndian.Uint16(at)) - len(file)
		require.GreaterOrEqual(t, gap, 0, "%s: lines overlap at %s", name, m[1])
		file = append(append(file, make([]byte, gap)...), b...)
	}
	require.NotEmpty(t, file)
	return file
}
