//go:build !linux

package pipeline

// pin does nothing: programs cannot set the processor affinity of these
// systems.
func pin(int) (undo func()) { return func() {} }
