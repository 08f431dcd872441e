//go:build !linux

package isolated

import (
	"os"
	"testing"
)

// Main is what TestMain calls.
func Main(m *testing.M) { os.Exit(m.Run()) }

// Require skips a test: there are no namespaces.
func Require(t testing.TB) {
	t.Helper()
	t.Skip("network namespaces are Linux's, and Beam's servers listen on all addresses")
}
