//go:build !unix && !windows

package cli

import "time"

// This system tells neither processor time nor memory.

func cpuTime() time.Duration { return 0 }

func peakRSS() int64 { return 0 }
