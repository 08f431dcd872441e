// Package short shortens tests that repeat the same work for many inputs.
// testdata/cross.sh tests with -short on the platforms after the first, and
// prints what the tests log here. Tests with -race are shortened too.
package short

import "testing"

// On reports whether tests are shortened: "go test" has -short or -race.
func On() bool { return testing.Short() || Race }

// Rounds returns full. In shortened tests it logs and returns short.
func Rounds(t testing.TB, full, short int) int {
	t.Helper()
	if !On() {
		return full
	}
	t.Logf("short: %s: %d of %d rounds", t.Name(), short, full)
	return short
}

// Step returns 1. In shortened tests it logs and returns short, the distance
// between the cases that a test takes.
func Step(t testing.TB, short int) int {
	t.Helper()
	if !On() {
		return 1
	}
	t.Logf("short: %s: one of %d cases", t.Name(), short)
	return short
}
