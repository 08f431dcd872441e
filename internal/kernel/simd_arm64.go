//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// simd is the feature that the assembly of this architecture needs.
const simd = cpu.NEON
