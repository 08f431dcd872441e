package tiff

import (
	"testing"

	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, name) }
