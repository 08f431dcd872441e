//go:build !purego

package kernel

// rearrangeSIMD permutes 16 bytes by order and adds fill, n times, an even
// number and not 0. Each time it moves src by from and dst by to bytes.
//
//go:noescape
func rearrangeSIMD(dst, src *byte, n int, order, fill *[16]uint8, from, to int)

func vectorWidth(int) int { return 16 }

// run permutes vectors times times, an even number and not 0. Each time it
// moves src by from and dst by to bytes.
func (r *rearrangeVectors) run(dst, src *byte, times, from, to int) {
	rearrangeSIMD(dst, src, times, (*[16]uint8)(r.order[:]), (*[16]uint8)(r.fill[:]), from, to)
}

type sameSize struct{}

func (sameSize) prepare(int, []int) {}

func (*rearrangeVectors) whole(_, _ []uint8, _ int) (head, end int) { return 0, 0 }
