//go:build (!amd64 && !arm64) || purego

package kernel

type rearrangeVectors struct{}

func vectorWidth(int) int { return 0 }

func (*rearrangeVectors) prepare(int, []int, int) {}

func (*rearrangeVectors) row(_, _ []uint8, _, _ int) int { return 0 }

func (*rearrangeVectors) whole(_, _ []uint8, _ int) (head, end int) { return 0, 0 }
