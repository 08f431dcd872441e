//go:build (!amd64 && !arm64) || purego

package kernel

func cvLinearU8(_, _ []uint8, _, _, _ int, _, _ *CVTaps, _ []int32, _ *CVScratch) bool { return false }

func cvAreaRowU8(_ []float32, _ []uint8, _ int, _ *AreaTab) bool { return false }

func addsScaled(_, _ []float32, _ float32, _ bool) int { return 0 }

func roundsU8(_ []uint8, _ []float32) int { return 0 }

func cvHalf(_, _, _ []uint8, _ int) int { return 0 }

func canPick(_, _ int, _ []int32) bool { return false }

func pickRow(_, _ []uint8, _, _ int, _ []int32) int { return 0 }
