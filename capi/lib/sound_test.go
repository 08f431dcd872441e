//go:build cgo

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSound runs a bundle of sounds on a file and on its samples.
func TestSound(t *testing.T) {
	builds(t)
	out := check(t, "sound", root+"testdata/bundle/wav2vec2.bundle", root+"testdata/speech/sounds/speech.wav")
	require.Regexp(t, `^sound 9 0 4000 [0-9a-f]{16}\n$`, out)
}
