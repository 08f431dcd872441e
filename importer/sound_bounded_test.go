package importer_test

import (
	"testing"

	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/importer/internal/golden"
)

// TestSoundsBounded compares the graphs of feature extractors that compute with
// torch, whose bits depend on the processor.
func TestSoundsBounded(t *testing.T) {
	golden.Bounded(t, "testdata/sounds_bounded.json", hf.ImportSamples)
}
