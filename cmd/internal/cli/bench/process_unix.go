//go:build unix

package bench

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// cpuTime returns the processor time of the program so far, in user and kernel
// mode, 0 if unknown.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS returns the peak memory of the program in bytes, 0 if unknown. It
// prefers /proc on Linux, where getrusage also counts the memory of the parent
// process before exec.
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
		return int64(u.Maxrss) // in bytes here, in KiB elsewhere
	}
	return int64(u.Maxrss) << 10
}
