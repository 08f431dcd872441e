package aiff_test

import (
	"testing"

	_ "github.com/infer-prep/infer-prep/sound/aiff"
	"github.com/infer-prep/infer-prep/sound/internal/soundtest"
)

func TestFiles(t *testing.T) {
	soundtest.Run(t, map[string]string{
		// libsndfile gives these files a rate.
		"rate_0":    "the sampling rate is the 80-bit number 00000000000000000000: want 1 to 1073741823 Hz",
		"rate_half": "the sampling rate is the 80-bit number 3ffe8000000000000000",
		"rate_2_31": "the sampling rate is the 80-bit number 401e8000000000000000",
		"comm_17":   "chunk \"COMM\" has 17 bytes: want at least 18", // it reads the byte that follows
		"comm_last": "chunk \"SSND\" comes before chunk \"COMM\"",    // it seeks
		"cut_50":    "chunk \"SSND\" has 4 bytes: want at least 8",   // it gives no samples
	})
}

func FuzzDecode(f *testing.F) { soundtest.Fuzz(f) }
