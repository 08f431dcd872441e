package flac_test

import (
	"testing"

	_ "github.com/infer-prep/infer-prep/sound/flac"
	"github.com/infer-prep/infer-prep/sound/internal/soundtest"
)

func TestFiles(t *testing.T) {
	soundtest.Run(t, map[string]string{
		"frames_missing": "frames are missing before it", // libsndfile 1.2.2 puts silence there, and later ones refuse it
	})
}

func FuzzDecode(f *testing.F) { soundtest.Fuzz(f) }
