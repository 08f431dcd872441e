package wav_test

import (
	"testing"

	"github.com/infer-prep/infer-prep/sound/internal/soundtest"
	_ "github.com/infer-prep/infer-prep/sound/wav"
)

func TestFiles(t *testing.T) {
	soundtest.Run(t, map[string]string{
		"cut_57": "the file ends without a chunk", // libsndfile takes the bytes that are missing for zeros
	})
}

func FuzzDecode(f *testing.F) { soundtest.Fuzz(f) }
