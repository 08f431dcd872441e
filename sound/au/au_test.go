package au_test

import (
	"testing"

	_ "github.com/infer-prep/infer-prep/sound/au"
	"github.com/infer-prep/infer-prep/sound/internal/soundtest"
)

func TestFiles(t *testing.T) {
	soundtest.Run(t, map[string]string{
		"offset_behind": "the samples begin at byte 1000: the file ends before it", // libsndfile gives no samples
	})
}

func FuzzDecode(f *testing.F) { soundtest.Fuzz(f) }
