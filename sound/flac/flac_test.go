package flac_test

import (
	"testing"

	_ "github.com/infer-prep/infer-prep/sound/flac"
	"github.com/infer-prep/infer-prep/sound/internal/soundtest"
)

func TestFiles(t *testing.T) { soundtest.Run(t, map[string]string{}) }

func FuzzDecode(f *testing.F) { soundtest.Fuzz(f) }
