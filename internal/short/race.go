//go:build race

package short

// Race reports whether the race detector is on. It slows code down 10 to 20
// times, and allocates, so tests do not count allocations then.
const Race = true
