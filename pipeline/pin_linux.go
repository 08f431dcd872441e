package pipeline

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin binds the calling goroutine to a thread and that to one of the processors
// that the process may use. The thread ends with the goroutine, which is never
// unlocked from it.
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
	_ = unix.SchedSetaffinity(0, &one) // without it the worker runs anywhere
	return func() {}
}
