//go:build cgo && !small

package main

// framesOf returns a function that returns the frames of a clip by their
// numbers.
func framesOf(c *ipClip, _ int) (func(k int) (*ipInput, error), error) {
	l, err := listOf("ip_input", c.frames, int32(c.count))
	return func(k int) (*ipInput, error) { return l.of(k), nil }, err
}
