package cli

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of the program so far, user's and system's; 0
// if the system does not tell.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) time.Duration { // of 100 ns
		return time.Duration(int64(f.HighDateTime)<<32 | int64(f.LowDateTime))
	}
	return 100 * (ticks(kernel) + ticks(user))
}

// peakRSS is not told: 0.
func peakRSS() int64 { return 0 }
