package tga

import (
	"testing"

	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

// The tests of codec/all compare the pixels.

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }
