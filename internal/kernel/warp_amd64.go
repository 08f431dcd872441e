//go:build !purego

package kernel

import (
	"math"
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// The assembly of the warps processes groups of eight pixels, or of four for
// float64. The last group of a row overlaps the one before it. Groups that the
// assembly leaves to plain Go are at borders.

// warpPlane describes an image to the assembly: the last column and row, and
// the bytes of a line and a pixel.
type warpPlane struct{ right, bottom, line, size int32 }

// warpPlaneOf reports whether the assembly supports an image of w x h, and n
// outputs in a row.
func warpPlaneOf(pix []uint8, w, h, ch, n int, f cpu.Feature) (p warpPlane, ok bool) {
	if n < 8 || w < 1 || h < 1 || len(pix) > math.MaxInt32 || ch != 1 && ch != 3 && ch != 4 || !cpu.Has(f) {
		return p, false
	}
	_ = pix[w*h*ch-1]
	return warpPlane{int32(w - 1), int32(h - 1), int32(w * ch), int32(ch)}, true
}

// eachGroup computes n pixels in groups of size, n >= size. simd computes up to
// n pixels from the pixel at, n a multiple of size, and returns how many. plain
// computes the group at which it stopped.
func eachGroup(n, size int, simd func(at, n int) int, plain func(from, to int)) {
	for i := 0; i < n; {
		at := min(i, n-size)
		want := (n - at) / size * size
		k := simd(at, want)
		i = at + k
		if k < want {
			plain(i, i+size)
			i += size
		}
	}
}

// pickOr copies the pixels at the offsets index, or fill.
func pickOr(dst, src []uint8, ch int, index []int32, fill []uint8) {
	run := pickOr3AVX2
	switch ch {
	case 1:
		run = pickOr1AVX2
	case 4:
		run = pickOr4AVX2
	}
	dst = dst[:len(index)*ch]
	limit, dword := int32(len(src)-4), dwordOf(fill[:ch])
	eachGroup(len(index), 8, func(at, n int) int {
		return run(&dst[at*ch], &src[0], n, &index[at], limit, dword)
	}, func(from, to int) {
		for i, at := range index[from:to] {
			p := fill
			if at >= 0 {
				p = src[at:]
			}
			copyPixel(dst[(from+i)*ch:][:ch], p)
		}
	})
}

// dwordOf returns up to four bytes as a dword.
func dwordOf(b []uint8) (v uint32) {
	for i, x := range b {
		v |= uint32(x) << (8 * i)
	}
	return v
}

// fixedRow computes a row of fixed and reports whether it did.
func (s *PILImage) fixedRow(row []uint8, x, y, dx, dy int32) bool {
	n := len(row) / s.Channels
	p, ok := warpPlaneOf(s.Pix, s.Width, s.Height, s.Channels, n, cpu.AVX2)
	if !ok || len(s.Index) < n {
		return false
	}
	index := s.Index[:n]
	for i := 0; i < n; {
		at := min(i, n-8)
		k := (n - at) &^ 7
		pilFixedAVX2(&index[at], k, x+int32(at)*dx, y+int32(at)*dy, dx, dy, p.right, p.bottom, p.line, p.size)
		i = at + k
	}
	pickOr(row, s.Pix, s.Channels, index, s.Fill)
	return true
}

// pilCoordsSIMD runs AffineCoords, or PerspectiveCoords if m[6:] are the
// numbers of the divisor, and reports whether it did. m is as for the assembly
// without the first column.
func pilCoordsSIMD(xs, ys []float64, m *[9]float64, projective bool) bool {
	n := len(xs)
	if n < 4 || !cpu.Has(cpu.AVX2) {
		return false
	}
	ys = ys[:n]
	for i := 0; i < n; {
		at := min(i, n-4)
		k := (n - at) &^ 3
		m[8] = float64(at) + 0.5
		if projective {
			pilPerspectiveAVX2(&xs[at], &ys[at], k, m)
		} else {
			pilAffineAVX2(&xs[at], &ys[at], k, m)
		}
		i = at + k
	}
	return true
}

// rowSIMD runs PILRow and reports whether it did.
func (s *PILImage) rowSIMD(taps PILTaps, dst []uint8, xs, ys []float64) bool {
	n, ch := len(xs), s.Channels
	p, ok := warpPlaneOf(s.Pix, s.Width, s.Height, ch, n, cpu.AVX2)
	if !ok || taps == 4 {
		return false
	}
	dst, ys = dst[:n*ch], ys[:n]
	if taps == 1 {
		if len(s.Index) < n {
			return false
		}
		index := s.Index[:n]
		for i := 0; i < n; {
			at := min(i, n-8)
			k := (n - at) &^ 7
			pilIndexAVX2(&index[at], &xs[at], &ys[at], k, p.right, p.bottom, p.line, p.size)
			i = at + k
		}
		pickOr(dst, s.Pix, ch, index, s.Fill)
		return true
	}
	run := pilBilinear3AVX2
	switch ch {
	case 1:
		run = pilBilinear1AVX2
	case 4:
		run = pilBilinear4AVX2
	}
	w, h, limit, fill := float64(s.Width), float64(s.Height), int32(len(s.Pix)-4), dwordOf(s.Fill[:ch])
	eachGroup(n, 4, func(at, k int) int {
		return run(&dst[at*ch], &s.Pix[0], k, &xs[at], &ys[at], w, h, p.right, p.bottom, p.line, p.size, limit, fill)
	}, func(from, to int) {
		s.pilRow(taps, dst[from*ch:], xs[from:to], ys[from:to])
	})
	return true
}

// nearestSIMD runs nearest and reports whether it did. index is scratch.
func (s *warpSource) nearestSIMD(dst []uint8, x0, y0 int32, dx, dy, index []int32) bool {
	n := len(dx)
	p, ok := warpPlaneOf(s.pix, s.w, s.h, s.channels, n, cpu.AVX2)
	if !ok || len(index) < n {
		return false
	}
	index = index[:n]
	for i := 0; i < n; {
		at := min(i, n-8)
		k := (n - at) &^ 7
		cvIndexAVX2(&index[at], k, &dx[at], &dy[at], x0, y0, p.right, p.bottom, p.line, p.size)
		i = at + k
	}
	pickOr(dst, s.pix, s.channels, index, s.fill)
	return true
}

// bilinearSIMD runs bilinear and reports whether it did.
func (s *warpSource) bilinearSIMD(dst []uint8, x0, y0 int32, dx, dy []int32) bool {
	n, ch := len(dx), s.channels
	p, ok := warpPlaneOf(s.pix, s.w, s.h, ch, n, cpu.AVX2)
	limit := len(s.pix) - int(p.line) - 8
	if !ok || limit < 0 {
		return false
	}
	run := cvBilinear3AVX2
	switch ch {
	case 1:
		run = cvBilinear1AVX2
	case 4:
		run = cvBilinear4AVX2
	}
	fill := dwordOf(s.fill)
	eachGroup(n, 8, func(at, k int) int {
		return run(&dst[at*ch], &s.pix[0], k, &dx[at], &dy[at], x0, y0, p.right-1, p.bottom-1, p.line, p.size, int32(limit), fill)
	}, func(from, to int) {
		s.bilinear(dst[from*ch:to*ch], x0, y0, dx[from:to], dy[from:to])
	})
	return true
}

// tapsSIMD runs taps and reports whether it did.
func (s *warpSource) tapsSIMD(dst []uint8, k int, table []int16, x0, y0 int32, dx, dy []int32) bool {
	n, ch := len(dx), s.channels
	p, ok := warpPlaneOf(s.pix, s.w, s.h, ch, n, cpu.AVX2)
	limit := len(s.pix) - (k-1)*int(p.line) - (k-4)*ch - 16
	if !ok || limit < 0 || ch == 1 {
		return false
	}
	run := cvBicubic3AVX2
	switch {
	case k == 4 && ch == 4:
		run = cvBicubic4AVX2
	case k == 8 && ch == 3:
		run = cvLanczos3AVX2
	case k == 8 && ch == 4:
		run = cvLanczos4AVX2
	}
	fill, reach := dwordOf(s.fill), int32(k-1)
	_ = table[k*k<<(2*warpFrac)-1]
	eachGroup(n, 4, func(at, count int) int {
		return run(&dst[at*ch], &s.pix[0], count, &dx[at], &dy[at], x0, y0, p.right-reach, p.bottom-reach, p.line, p.size, int32(limit), fill, &table[0])
	}, func(from, to int) {
		s.taps(dst[from*ch:to*ch], k, table, x0, y0, dx[from:to], dy[from:to])
	})
	return true
}

// perspectiveSIMD computes the positions of a block of columns and returns how
// many it computed. m is as for the assembly.
func (k WarpTaps) perspectiveSIMD(dx, dy []int32, m *[9]float64) int {
	n := len(dx) &^ 3
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_ = dy[n-1]
	if k == 1 {
		cvPerspective1AVX2(&dx[0], &dy[0], n, m)
	} else {
		cvPerspective32AVX2(&dx[0], &dy[0], n, m)
	}
	return n
}

// torchRow computes the positions of n pixels in groups of eight and reports
// whether it did.
func torchRow(n int, f func(at, n int)) bool {
	if n < 8 || !cpu.Has(cpu.FMA) {
		return false
	}
	for i := 0; i < n; {
		at := min(i, n-8)
		k := (n - at) &^ 7
		f(at, k)
		i = at + k
	}
	return true
}

// affineSIMD runs the loop of Affine. v is the row's position.
func (g TorchGrid) affineSIMD(t *[6]float32, v float32, w, h int) bool {
	n := len(g.X)
	m := [8]float32{t[0], float32(v * t[1]), t[2], t[3], float32(v * t[4]), t[5], float32(float32(w) / 2), float32(float32(h) / 2)}
	return torchRow(n, func(at, k int) {
		torchAffineFMA(&g.X[at], &g.Y[at], k, centred(at, n), &m)
	})
}

// perspectiveSIMD runs the loop of Perspective. v is the row's position.
func (g TorchGrid) perspectiveSIMD(t *[6]float32, d [2]float32, v float32, w, h int) bool {
	m := [10]float32{
		t[0], float32(v * t[1]), t[2], t[3], float32(v * t[4]), t[5], float32(float32(w) / 2), float32(float32(h) / 2),
		d[0], float32(v * d[1]),
	}
	return torchRow(len(g.X), func(at, k int) {
		torchPerspectiveFMA(&g.X[at], &g.Y[at], k, float32(at)+0.5, &m)
	})
}

// displaceSIMD runs the loop of Displace.
func (g TorchGrid) displaceSIMD(displacement, columns []float32, row float32, w, h int) bool {
	return torchRow(w, func(at, k int) {
		torchDisplaceFMA(&g.X[at], &g.Y[at], k, &displacement[2*at], &columns[at], row, float32(float32(w)/2), float32(float32(h)/2))
	})
}

// nearestSIMD runs Nearest and reports whether it did.
func (s *TorchImage) nearestSIMD(dst []uint8, g TorchGrid) bool {
	n, ch := len(g.X), s.Channels
	p, ok := warpPlaneOf(s.Pix, s.Width, s.Height, ch, n, cpu.FMA)
	if !ok || len(s.Index) < n {
		return false
	}
	index, ys := s.Index[:n], g.Y[:n]
	torchRow(n, func(at, k int) {
		torchIndexFMA(&index[at], &g.X[at], &ys[at], k, p.right, p.bottom, p.line, p.size)
	})
	var fill [4]uint8
	s.fill(fill[:ch])
	pickOr(dst, s.Pix, ch, index, fill[:])
	return true
}

// bilinearSIMD runs Bilinear and reports whether it did.
func (s *TorchImage) bilinearSIMD(dst []uint8, g TorchGrid) bool {
	n, ch := len(g.X), s.Channels
	p, ok := warpPlaneOf(s.Pix, s.Width, s.Height, ch, n, cpu.FMA)
	if !ok || s.Width < 3 || s.Height < 3 {
		return false
	}
	run := torchBilinear3FMA
	switch ch {
	case 1:
		run = torchBilinear1FMA
	case 4:
		run = torchBilinear4FMA
	}
	var fill [4]uint8
	s.fill(fill[:ch])
	fills := unsafe.SliceData(s.Fill[:len(s.Fill)])
	if len(s.Fill) == 0 {
		fills = nil
	}
	dst, ys := dst[:n*ch], g.Y[:n]
	eachGroup(n, 8, func(at, k int) int {
		return run(&dst[at*ch], &s.Pix[0], k, &g.X[at], &ys[at], p.right, p.bottom, p.line, p.size, fills, dwordOf(fill[:]))
	}, func(from, to int) {
		s.bilinear(dst[from*ch:to*ch], TorchGrid{g.X[from:to], ys[from:to]})
	})
	return true
}
