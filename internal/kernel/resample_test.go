package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var filterNames = [...]string{FilterBox: "box", FilterBilinear: "bilinear", FilterHamming: "hamming", FilterBicubic: "bicubic", FilterLanczos: "lanczos"}

func noise(seed uint64, n int) []uint8 {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]uint8, n)
	for i := range b {
		b[i] = uint8(r.Uint32())
	}
	return b
}

// BenchmarkResample is 450 x 400 pixels to 288 x 256, both passes without the tables.
func BenchmarkResample(b *testing.B) {
	const w, h, ow, oh = 450, 400, 288, 256
	for _, f := range []Filter{FilterBilinear, FilterBicubic, FilterLanczos} {
		for _, ch := range []int{1, 3, 4} {
			var x, y Taps
			x.Pillow(w, ow, 0, ow, f, false)
			y.Pillow(h, oh, 0, oh, f, false)
			src, mid, dst := noise(1, w*h*ch), make([]uint8, ow*h*ch), make([]uint8, ow*oh*ch)
			name := fmt.Sprintf("%s-%d", filterNames[f], ch)
			b.Run(name+"/horizontal", func(b *testing.B) {
				for b.Loop() {
					x.Horizontal(mid, src, h, w, ch)
				}
			})
			b.Run(name+"/vertical", func(b *testing.B) {
				for b.Loop() {
					y.Vertical(dst, mid, ow*ch)
				}
			})
		}
		b.Run(filterNames[f]+"/tables", func(b *testing.B) {
			var x, y Taps
			for b.Loop() {
				x.Pillow(w, ow, 0, ow, f, false)
				y.Pillow(h, oh, 0, oh, f, false)
			}
		})
	}
}
