package tensor

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestLargePages checks that the kernel was asked for large pages for a large
// tensor.
func TestLargePages(t *testing.T) {
	const setting = "/sys/kernel/mm/transparent_hugepage/enabled"
	if _, err := os.Stat(setting); err != nil || runtime.GOARCH != "amd64" {
		t.Skipf("no %s, or emulated: the kernel has no large pages to ask for", setting)
	}
	b := Alloc(4*hugePage + 100)
	require.Len(t, b, 4*hugePage+100)
	require.Equal(t, len(b), bytes.Count(b, []byte{0}))
	maps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	middle, found := uintptr(unsafe.Pointer(&b[len(b)/2])), false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			found = middle >= from && middle < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && found {
			require.Contains(t, strings.Fields(flags), "hg")
			return
		}
	}
	require.Fail(t, "the memory is not in /proc/self/smaps")
}
