//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// fusedFeature is the feature that torchBlurFusedSIMD needs.
const fusedFeature = cpu.FMA
