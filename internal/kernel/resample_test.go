package kernel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
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

// guarded returns n bytes at an odd address. whole reports whether the bytes
// around them are unchanged.
func guarded(n int) (b []uint8, whole func() bool) {
	const guard = 67
	all := bytes.Repeat([]uint8{0xa5}, n+2*guard)
	edge := bytes.Repeat([]uint8{0xa5}, guard)
	return all[guard:][:n:n], func() bool {
		return bytes.Equal(all[:guard], edge) && bytes.Equal(all[guard+n:], edge)
	}
}

// content returns noise, or data whose sums reach the bounds of the range.
func content(kind int, n int) []uint8 {
	b := noise(uint64(kind), n)
	switch kind % 4 {
	case 1:
		for i := range b {
			b[i] = 255
		}
	case 2: // a checkerboard of single bytes
		for i := range b {
			b[i] = uint8(i%2) * 255
		}
	case 3: // only black and white
		for i, v := range b {
			b[i] = uint8(int8(v) >> 7)
		}
	}
	return b
}

// levels runs f with every available set of instructions.
func levels(t *testing.T, f func(t *testing.T)) {
	t.Run("best", f)
	if !cpu.Any() {
		return // the reference is the best
	}
	if cpu.Has(cpu.AVX512) {
		t.Run("without AVX-512", func(t *testing.T) {
			defer cpu.Disable(cpu.AVX512)()
			defer cpu.Disable(cpu.VNNI)()
			defer cpu.Disable(cpu.VBMI)()
			f(t)
		})
	}
	if cpu.Has(cpu.VBMI) {
		t.Run("without VBMI", func(t *testing.T) {
			defer cpu.Disable(cpu.VBMI)()
			f(t)
		})
	}
	if short.On() {
		return // platforms without vectors test the reference
	}
	t.Run("reference", func(t *testing.T) {
		defer cpu.DisableAll()()
		f(t)
	})
}

// tables fill a table of the outputs in [from, to) with fixed-point weights:
// those of Pillow, and those of torch, which have 16 bits. The tables are ready
// for both passes.
var tables = func() (l []func(t *Taps, in, out, from, to int)) {
	for f := range FilterLanczos + 1 {
		l = append(l, func(t *Taps, in, out, from, to int) {
			t.Pillow(in, out, from, to, f, false)
			t.PackRows()
		})
	}
	for f := range TorchLanczos + 1 {
		l = append(l, func(t *Taps, in, out, from, to int) {
			t.TorchU8(in, out, from, to, f, true)
			t.PackRows()
		})
	}
	for f := range TorchLanczos {
		l = append(l, func(t *Taps, in, out, from, to int) {
			t.TorchU8(in, out, from, to, f, false)
			t.PackRows()
		})
	}
	return l
}()

// resampleInputs returns input sizes for an output of out: near the scales that
// matter, enlargements and extremes.
func resampleInputs(out int) []int {
	return []int{1, 2, 3, 5, max(1, out/3), out, out + 1, out*25/16 + 1, out*2 + 1, out*4 + 3, 16*out + 7, 1000}
}

// checkResample compares a table's passes with the Go loops.
func checkResample(t *testing.T, taps *Taps, in, rows, ch, kind int) {
	out := len(taps.Start)
	src := content(kind, rows*in*ch)
	want := make([]uint8, rows*out*ch)
	taps.horizontalGo(want, src, rows, in, ch, 0)
	got, whole := guarded(len(want))
	taps.Horizontal(got, src, rows, in, ch)
	require.True(t, whole(), "bytes around the output")
	for i, w := range want {
		if got[i] != w {
			t.Fatalf("horizontal, %d to %d pixels of %d channels, at (%d, %d): got %d want %d", in, out, ch, i/ch%out, i/ch/out, got[i], w)
		}
	}
}

func checkColumns(t *testing.T, taps *Taps, in, line, kind int) {
	out := len(taps.Start)
	src := content(kind, in*line)
	got, whole := guarded(out * line)
	taps.Vertical(got, src, line)
	require.True(t, whole(), "bytes around the output")
	want, row := make([]uint8, line), make([]uint8, line)
	for y, s := range taps.Start {
		taps.verticalGo(want, src[int(s)*line:], line, y)
		taps.VerticalRow(row, src[int(s)*line:][:int(taps.Len[y])*line], line, y)
		require.Equal(t, row, got[y*line:][:line])
		for x, w := range want {
			if row[x] != w {
				t.Fatalf("vertical, %d to %d rows of %d bytes, at (%d, %d): got %d want %d", in, out, line, x, y, row[x], w)
			}
		}
	}
}

func TestHorizontal(t *testing.T) {
	step := short.Step(t, 7)
	kinds := short.Rounds(t, 4, 1)
	levels(t, func(t *testing.T) {
		var taps Taps
		for _, fill := range tables {
			for out := 1; out <= 64; out += step {
				for i, in := range resampleInputs(out) {
					fill(&taps, in, out, 0, out)
					for ch := 1; ch <= 4; ch++ {
						checkResample(t, &taps, in, 1+(i+out)%9, ch, i+ch+out)
					}
				}
			}
			for _, p := range [][2]int{{1000, 3}, {3, 1000}, {1000, 64}, {450, 288}, {4000, 224}, {7, 900}} {
				fill(&taps, p[0], p[1], 0, p[1])
				for kind := range kinds {
					for ch := 1; ch <= 4; ch++ {
						checkResample(t, &taps, p[0], 1+kind, ch, kind)
						checkResample(t, &taps, p[0], 8, ch, kind)
					}
				}
			}
		}
	})
}

func TestVertical(t *testing.T) {
	levels(t, func(t *testing.T) {
		var taps Taps
		for _, fill := range tables {
			for line := 1; line <= 200; line++ {
				for i, out := range []int{1, 3, 8} {
					in := resampleInputs(out)[(line+i)%11]
					fill(&taps, in, out, 0, out)
					checkColumns(t, &taps, in, line, line+i)
				}
			}
			for _, p := range [][2]int{{1000, 3}, {3, 1000}, {400, 256}, {1, 5}} {
				fill(&taps, p[0], p[1], 0, p[1])
				for kind := range 4 {
					checkColumns(t, &taps, p[0], 97, kind)
				}
			}
		}
	})
}

// TestRegion checks that the outputs of a table for a region, computed from the
// required part of the input, equal those of the whole.
func TestRegion(t *testing.T) {
	levels(t, func(t *testing.T) {
		const in, rows = 300, 5
		for _, fill := range tables {
			for _, out := range []int{40, 192, 700} {
				var all, part Taps
				fill(&all, in, out, 0, out)
				for ch := 1; ch <= 4; ch++ {
					src, want := content(ch, rows*in*ch), make([]uint8, rows*out*ch)
					all.horizontalGo(want, src, rows, in, ch, 0)
					for _, r := range [][2]int{{0, 10}, {3, 33}, {5, 6}, {out - 21, out}} {
						fill(&part, in, out, r[0], r[1])
						n := r[1] - r[0]
						left := int(part.Start[0])
						w := int(part.Start[n-1]+part.Len[n-1]) - left
						part.Shift(left)
						require.Zero(t, part.Start[0])
						cut := make([]uint8, 0, rows*w*ch)
						for y := range rows {
							cut = append(cut, src[(y*in+left)*ch:][:w*ch]...)
						}
						got := make([]uint8, rows*n*ch)
						part.Horizontal(got, cut, rows, w, ch)
						for y := range rows {
							require.Equal(t, want[(y*out+r[0])*ch:][:n*ch], got[y*n*ch:][:n*ch], "row %d of outputs %v", y, r)
						}
					}
				}
			}
		}
	})
}

// TestResampleAllocates checks that a pass does not allocate once its table
// exists.
func TestResampleAllocates(t *testing.T) {
	var taps Taps
	src, dst := noise(1, 9*90*3), make([]uint8, 9*90*3)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, fill := range tables {
			for _, out := range []int{3, 7, 20, 45, 50, 90} {
				fill(&taps, 90, out, 0, out)
				for _, ch := range []int{1, 3} {
					taps.Horizontal(dst, src, 9, 90, ch)
				}
			}
			fill(&taps, 9, 5, 0, 5)
			taps.Vertical(dst, src, 270)
		}
	}))
}

// BenchmarkResample scales 450 x 400 pixels to 288 x 256, pass by pass.
func BenchmarkResample(b *testing.B) {
	const w, h, ow, oh = 450, 400, 288, 256
	for _, level := range []string{"best", "go"} {
		restore := []func(){}
		if level == "go" {
			restore = append(restore, cpu.DisableAll())
		}
		for _, f := range []Filter{FilterBilinear, FilterBicubic, FilterLanczos} {
			var x, y Taps
			b.Run(fmt.Sprintf("%s/%s/tables", level, filterNames[f]), func(b *testing.B) {
				for b.Loop() {
					x.Pillow(w, ow, 0, ow, f, false)
					x.PackRows()
					y.Pillow(h, oh, 0, oh, f, false)
				}
			})
			x.Pillow(w, ow, 0, ow, f, false)
			x.PackRows()
			y.Pillow(h, oh, 0, oh, f, false)
			for _, ch := range []int{1, 3, 4} {
				src, mid, dst := noise(1, w*h*ch), make([]uint8, ow*h*ch), make([]uint8, ow*oh*ch)
				name := fmt.Sprintf("%s/%s/%d", level, filterNames[f], ch)
				b.Run(name+"/horizontal", func(b *testing.B) {
					for b.Loop() {
						x.Horizontal(mid, src, h, w, ch)
					}
				})
				b.Run(name+"/horizontal8", func(b *testing.B) {
					for b.Loop() {
						for at := 0; at < h; at += 8 {
							x.Horizontal(mid[at*ow*ch:], src[at*w*ch:][:8*w*ch], 8, w, ch)
						}
					}
				})
				b.Run(name+"/horizontal1", func(b *testing.B) {
					for b.Loop() {
						for at := range h {
							x.Horizontal(mid[at*ow*ch:], src[at*w*ch:][:w*ch], 1, w, ch)
						}
					}
				})
				b.Run(name+"/vertical", func(b *testing.B) {
					for b.Loop() {
						y.Vertical(dst, mid, ow*ch)
					}
				})
			}
		}
		for _, f := range restore {
			f()
		}
	}
}
