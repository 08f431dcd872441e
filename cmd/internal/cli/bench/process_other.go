//go:build !unix && !windows

package bench

import "time"

// cpuTime returns 0: the processor time is unknown.
func cpuTime() time.Duration { return 0 }

// peakRSS returns 0: the peak memory is unknown.
func peakRSS() int64 { return 0 }
