//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// fusedFeature is the feature that torchBlurFusedSIMD needs.
const fusedFeature = cpu.NEON

// widenSIMD and floatsSIMD convert n bytes, a multiple of 32 and not 0.
//
//go:noescape
func widenSIMD(dst *uint16, src *byte, n int)

//go:noescape
func floatsSIMD(dst *float32, src *byte, n int)

// cvBlurRowSIMD is CVBlurRow for n values, a multiple of 32 and not 0. There
// are 2*half+1 taps. step is in bytes.
//
//go:noescape
func cvBlurRowSIMD(dst, src *byte, taps *uint16, half, n, step int)

// cvBlurMixSIMD is CVBlurMix for n values, a multiple of 32 and not 0. There
// are 2*half+1 taps.
//
//go:noescape
func cvBlurMixSIMD(dst, rows *byte, at *int64, taps *uint16, half, n int)

// torchBlurFusedSIMD and torchBlurSIMD are TorchBlurRow for n values, a
// multiple of 64 and not 0. step is in bytes. The latter rounds the products.
//
//go:noescape
func torchBlurFusedSIMD(sums, rows *float32, at *int64, height int, taps *float32, width, n, step int)

//go:noescape
func torchBlurSIMD(sums, rows *float32, at *int64, height int, taps *float32, width, n, step int)
