//go:build !amd64 || purego

package kernel

// HasLZW reports whether Run decodes anything.
func HasLZW() bool { return false }

// Run does nothing.
func (z *LZW) Run(_, _ []byte, _ int, _ bool) {}
