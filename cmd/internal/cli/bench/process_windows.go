package bench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of the program so far, in user and kernel
// mode, 0 if unknown.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) time.Duration { // in units of 100 ns
		return time.Duration(int64(f.HighDateTime)<<32 | int64(f.LowDateTime))
	}
	return 100 * (ticks(kernel) + ticks(user))
}

// peakRSS returns 0: the peak memory is unknown.
func peakRSS() int64 { return 0 }
