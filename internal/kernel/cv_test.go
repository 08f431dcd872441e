package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkCV(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const inW, inH, outW, outH = 450, 400, 288, 256
	for _, ch := range []int{1, 3, 4} {
		src, dst := bytesOf(r, inW*inH*ch), make([]uint8, outW*outH*ch)
		var s CVScratch
		var x, y CVTaps
		x.Resize(inW, outW, CVLinear, false)
		y.Resize(inH, outH, CVLinear, true)
		rows := make([]int32, outW*ch*2)
		var ax, ay AreaTab
		ax.Resize(inW, outW)
		ay.Resize(inH, outH)
		buf, sum := make([]float32, outW*ch), make([]float32, outW*ch)
		nx, ny := make([]int32, outW), make([]int32, outH)
		NearestCV(nx, inW, outW)
		NearestCV(ny, inH, outH)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%d", name, ch), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		run("linear", func() { CVResizeU8(dst, src, inW, outW, ch, &x, &y, rows, &s) })
		run("area", func() { CVAreaU8(dst, src, inW, outW, ch, &ax, &ay, buf, sum) })
		run("areafast2x2", func() { CVAreaFastU8(dst, src, inH/2, inW/2, ch, 2, 2) })
		run("areafast5x4", func() { CVAreaFastU8(dst, src, inH/4, inW/5, ch, 5, 4) })
		run("nearest", func() { Pick(dst, src, inW, ch, nx, ny) })
	}
}
