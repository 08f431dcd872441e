// Package short shortens tests that repeat the same work for many inputs.
// testdata/cross.sh tests with -short on the platforms after the first, and
// prints what the tests log here.
package short

import "testing"

// Rounds returns full. Under "go test -short" it logs and returns short.
func Rounds(t testing.TB, full, short int) int {
	t.Helper()
	if !testing.Short() {
		return full
	}
	t.Logf("short: %s: %d of %d rounds", t.Name(), short, full)
	return short
}

// Step returns 1. Under "go test -short" it logs and returns short, the
// distance between the cases that a test takes.
func Step(t testing.TB, short int) int {
	t.Helper()
	if !testing.Short() {
		return 1
	}
	t.Logf("short: %s: one of %d cases", t.Name(), short)
	return short
}
