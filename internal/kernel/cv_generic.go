//go:build (!amd64 && !arm64) || purego

package kernel

func cvLinearU8(_, _ []uint8, _, _, _ int, _, _ *CVTaps, _ []int32, _ *CVScratch) bool { return false }

func cvAreaRowU8(_ []float32, _ []uint8, _ int, _ *AreaTab) bool { return false }

func addsScaled(_, _ []float32, _ float32, _ bool) int { return 0 }

func roundsU8(_ []uint8, _ []float32) int { return 0 }

func cvHalf(_, _, _ []uint8, _ int) int { return 0 }

func canPick(_, _ int, _ []int32) bool { return false }

func pickRow(_, _ []uint8, _, _ int, _ []int32) int { return 0 }

func sumRows(_ []uint16, _ []uint8, _, _ int) int { return 0 }

func sumBlocks(_ []float32, _ []uint16, _, _, _ int, _ float32) int { return 0 }

func cvCubicRow(_ []int32, _ []uint8, _, _ int, _ *CVTaps) (from, to int) { return 0, 0 }

func cvMixCubic(_ []uint8, _, _, _, _ []int32, _ [4]float32) int { return 0 }
