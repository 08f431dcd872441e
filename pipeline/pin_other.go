//go:build !linux

package pipeline

// pin does nothing: these systems have no processor affinity, or none for programs.
func pin(int) (undo func()) { return func() {} }
