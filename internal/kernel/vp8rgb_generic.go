//go:build (!amd64 && !arm64 && !(goexperiment.simd && wasm)) || purego

package kernel

func vp8ToRGB(_, _ []byte, _ *VP8Chroma420, _ int) int { return 0 }
