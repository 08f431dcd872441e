//go:build (!amd64 && !arm64 && !(goexperiment.simd && wasm)) || purego

package kernel

func idctRow([]byte, int, [][64]int16, *[64]int16, []uint8) bool { return false }

func yccToRGB(_, _, _, _ []byte) bool { return false }

func upsampleH2V1(_, _ []byte) bool { return false }

func upsampleH2V2(_, _, _ []byte) bool { return false }

func upsampleH1V2(_, _, _ []byte, _ int) bool { return false }

func idctRow4([]byte, int, [][64]int16, *[64]int16, []uint8) bool { return false }

func idctRow2([]byte, int, [][64]int16, *[64]int16, []uint8) bool { return false }
