//go:build !linux

package isolated

import (
	"os"
	"testing"
	"time"
)

// Main is what TestMain calls.
func Main(m *testing.M) { os.Exit(m.Run()) }

// Require skips a test: there are no namespaces.
func Require(t testing.TB) {
	t.Helper()
	t.Skip("network namespaces are Linux's, and Beam's servers listen on all addresses")
}

// Left reports that no process is left.
func Left(time.Duration) bool { return false }
