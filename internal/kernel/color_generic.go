//go:build (!amd64 && !arm64) || purego

package kernel

func sumUint8(_ []uint8) (n int, sum uint64) { return 0, 0 }

func grayRow(_ *GrayRule, _, _, _, _ []uint8) int { return 0 }

func mixRow(_ *Mix, _, _, _ []uint8) int { return 0 }

func chromaRow(_, _, _ []uint8, _ int32) int { return 0 }

func smooth13(_, _, _, _ []uint8, _ int) int { return 0 }

func (k *CVHSV) fromRGB(_, _ [3][]uint8) int { return 0 }

func (k *CVHSV) toRGB(_, _ [3][]uint8, _ uint8, _ bool) int { return 0 }
