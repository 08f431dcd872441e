//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// simd is the feature that the assembly of this architecture needs at least.
const simd = cpu.AVX2
