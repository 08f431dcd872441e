package pipeline

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin locks the calling goroutine to its thread, and binds the thread to one of
// the processors that the process may use. The thread ends with the goroutine.
func pin(number int) (undo func()) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() == 0 {
		return func() {}
	}
	n := number % all.Count()
	for cpu := 0; ; cpu++ {
		if all.IsSet(cpu) {
			if n == 0 {
				one.Set(cpu)
				break
			}
			n--
		}
	}
	_ = unix.SchedSetaffinity(0, &one) // after an error the worker runs on any processor
	return func() {}
}
