package recordio

import "github.com/infer-prep/infer-prep/internal/kernel"

// findMagic returns the first multiple of 4 at which b has the magic word, or
// -1.
func findMagic(b []byte) int { return kernel.FindWord(b, Magic) }
