//go:build unix

package cli

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// cpuTime is the processor time of the program so far, user's and system's; 0
// if the system does not tell.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS is the most memory that the program had, in bytes; 0 if the system
// does not tell. Linux's own figure comes first: getrusage's there is at least
// that of the process which started this one.
func peakRSS() int64 {
	if b, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range bytes.Lines(b) {
			if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
				if kib, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
					return kib << 10
				}
			}
		}
	}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(u.Maxrss) << 10
}
