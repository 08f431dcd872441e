package recordio

import "github.com/infer-prep/infer-prep/internal/kernel"

// findMagic is the place of the first magic word at a multiple of 4 in b, whose
// beginning is at such a place; -1 if there is none.
func findMagic(b []byte) int { return kernel.FindWord(b, Magic) }
