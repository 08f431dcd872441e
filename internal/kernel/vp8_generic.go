//go:build (!amd64 && !arm64) || purego

package kernel

func vp8Read(*VP8Macroblock, *VP8Reader) bool { return false }

func vp8Modes(*VP8Reader, *VP8ModeProbs, *[4]uint8, *[4]uint8, *[16]uint8) bool { return false }

func vp8AddRow(_, _ []byte, _ int, _, _ *[2][16]int16) bool { return false }

func vp8PredictBlocks([]byte, int, int, *[16]uint8, *VP8Macroblock) bool { return false }

func vp8FilterNormal([]byte, int, int, []byte, []byte, int, int, *VP8Filter) bool { return false }

func vp8True([]byte, int, int, int) bool { return false }

func vp8FilterSimple([]byte, int, int, *VP8Filter) bool { return false }
