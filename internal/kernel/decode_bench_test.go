package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// decodeCase is a kernel of the decoders or of colours on typical data.
type decodeCase struct {
	name   string
	pixels int // or bytes, if pixels have no meaning
	run    func()
}

func decodeCases() (list []decodeCase) {
	const n = 1000
	r := rand.New(rand.NewPCG(61, 62))
	add := func(name string, pixels int, run func()) { list = append(list, decodeCase{name, pixels, run}) }
	for _, bpp := range []int{3, 4} {
		src, prev, dst := bytesOf(r, n*bpp), bytesOf(r, n*bpp), make([]byte, n*bpp)
		for filter, name := range []string{1: "left", 2: "up", 3: "average", 4: "paeth"} {
			if filter > 0 {
				add(fmt.Sprintf("png-%s-%d", name, bpp), n, func() { PNGUnfilter(dst, src, prev, byte(filter), bpp) })
			}
		}
	}
	stream := bytesOf(r, 1<<14)
	add("adler", len(stream), func() { s := NewAdler(); s.Add(stream) })
	for i, v := range stream {
		if v == 0xFF || i > 0 && stream[i-1] == 0xFF {
			stream[i] = 0 // no markers; one byte in 256 is stuffed
		}
		if i%256 == 7 {
			stream[i] = 0xFF
		}
	}
	out := make([]byte, len(stream))
	add("find-marker", len(stream), func() { FindMarker(stream) })
	add("unstuff", len(stream), func() { Unstuff(out, stream) })
	add("find-word", len(stream), func() { FindWord(stream, 0x01020304) })

	const stride = 48
	var m VP8Macroblock
	var modes [16]uint8
	for i := range modes {
		modes[i] = uint8(r.UintN(10))
		m.Count[VP8Luma+i] = 16
		for k := range 16 {
			m.Coef[VP8Luma+i][k] = int16(r.IntN(100) - 50)
		}
	}
	plane := bytesOf(r, 24*stride)
	coef := (*[2][16]int16)(m.Coef[VP8Luma:])
	add("vp8-add-row", 64, func() { VP8AddRow(plane, plane[8:], stride, coef, coef) })
	add("vp8-predict-blocks", 256, func() { VP8PredictBlocks(plane, stride+5, stride, &modes, &m) })
	add("vp8-true", 256, func() { VP8True(plane, stride+1, stride, 16) })
	var smooth, y, u, v [24 * stride]byte
	for i := range smooth {
		smooth[i] = byte(100 + i%stride/8*5 + r.IntN(4))
	}
	f := VP8Filter{Limit: 40, Interior: 10, Variance: 1, Inner: true, Left: true, Above: true}
	add("vp8-filter", 256, func() {
		y, u, v = smooth, smooth, smooth
		VP8FilterNormal(y[:], 8*stride+16, stride, u[:], v[:], 8*stride+16, stride, &f)
	})
	add("vp8-filter-simple", 256, func() {
		y = smooth
		VP8FilterSimple(y[:], 8*stride+16, stride, &f)
	})
	half := func() []byte { return bytesOf(r, n/2) }
	chroma := VP8Chroma420{half(), half(), half(), half()}
	luma, rgb := bytesOf(r, n), make([]byte, 4*n)
	add("vp8-rgb", n, func() { VP8ToRGB(rgb, luma, &chroma, 3) })
	add("vp8-rgba", n, func() { VP8ToRGB(rgb, luma, &chroma, 4) })

	row, up := make([]uint32, n), make([]uint32, n+1)
	for i := range up {
		up[i] = r.Uint32()
	}
	copy(row, up)
	for mode := range uint32(14) {
		add(fmt.Sprintf("vp8l-predict-%d", mode), n, func() { VP8LPredict(mode, row, up, 1) })
	}
	add("vp8l-green", n, func() { VP8LAddGreen(row) })
	add("vp8l-colours", n, func() { VP8LAddColors(row, 11, -50, 7) })
	add("argb-to-rgb", n, func() { ARGBToRGB(rgb, row) })
	var table [256][4]uint8
	add("palette", n, func() { LookupRGB(rgb[:3*n], stream[:n], &table) })
	a, b, c := bytesOf(r, n), bytesOf(r, n), bytesOf(r, n)
	add("gray-fixed", n, func() { GrayPillow.Row(rgb[:n], a, b, c) })
	add("gray-float", n, func() { GrayTorch.Row(rgb[:n], a, b, c) })
	add("mix", n, func() { (&Mix{MixPillow, 1.3, -0.3}).Row(rgb[:n], a, b) })
	add("chroma", n, func() { ChromaRow(rgb[:n], a, b, 11682) })
	add("smooth", n-2, func() { Smooth13(rgb[:n-2], a, b, c, 1) })
	add("sum", n, func() { SumUint8(a) })
	add("tiff-left16", n, func() { AddLeft16(rgb[:4*n/6*6], 3) })
	bgr := NewRearranger(3, 2, 1, 0)
	add("bgr-to-rgb", n, func() { bgr.Row(rgb[:3*n], stream[:3*n]) })
	return list
}

// BenchmarkDecode measures the kernels of decodeCases with vector instructions
// and in plain Go.
func BenchmarkDecode(b *testing.B) {
	for _, c := range decodeCases() {
		run := func(b *testing.B) {
			for b.Loop() {
				c.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.pixels), "ns/pixel")
		}
		b.Run(c.name+"/vectors", run)
		b.Run(c.name+"/plain", func(b *testing.B) {
			defer cpu.DisableAll()()
			run(b)
		})
	}
}
