package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// TestVP8Read compares the assembly with Go: random probabilities and data, up
// to the end of the data and beyond.
func TestVP8Read(t *testing.T) {
	needsVectors(t)
	rnd := rand.New(rand.NewPCG(41, 1))
	for round := range short.Rounds(t, 3000, 300) {
		var probs [4]VP8Probs
		most := []int{256, 200, 60}[round%3] // many, some, or few coefficients
		for i := range probs {
			for n := range probs[i] {
				for c := range probs[i][n] {
					for k := range 11 {
						prob := uint8(rnd.IntN(most))
						if round%5 == 0 && rnd.IntN(2) == 0 {
							prob = 255
						}
						probs[i].Set(n, c, k, prob)
					}
				}
			}
		}
		var quant [3][2]int32
		for i := range quant {
			quant[i] = [2]int32{4 + rnd.Int32N(310), 4 + rnd.Int32N(440)}
		}
		data := make([]byte, rnd.IntN(3000))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		var r, r2 VP8Reader
		r.Init(data)
		r2.Init(data)
		var above, above2 [16]uint8
		m, m2 := VP8Macroblock{Probs: &probs, Quant: &quant, Above: &above}, VP8Macroblock{Probs: &probs, Quant: &quant, Above: &above2}
		for range 40 {
			m.Y2 = rnd.IntN(2) == 0
			m2.Y2 = m.Y2
			clear(m.Coef[:])
			clear(m2.Coef[:])
			m.Read(&r)
			m2.read(&r2)
			if r.Ended || r2.Ended {
				require.Equal(t, r2.Ended, r.Ended)
				break // all else does not matter then
			}
			require.Equal(t, r2, r)
			require.Equal(t, above2, above)
			m2.Above = m.Above
			require.Equal(t, m2, m)
			m2.Above = &above2
			bit := uint8(rnd.Uint32())
			require.Equal(t, r2.Bit(bit), r.Bit(bit))
			vp8CompareModes(t, rnd, &r, &r2)
		}
	}
}

// vp8CompareModes reads modes from r with assembly and from r2 without.
func vp8CompareModes(t *testing.T, rnd *rand.Rand, r, r2 *VP8Reader) {
	var probs VP8ModeProbs
	for i := range probs {
		for k := range probs[i] {
			for n := range probs[i][k] {
				probs[i][k][n] = uint8(rnd.Uint32())
			}
		}
	}
	above, left := [4]uint8{0, 9, 3, uint8(rnd.IntN(10))}, [4]uint8{uint8(rnd.IntN(10)), 9, 0, 7}
	above2, left2 := above, left
	var modes, modes2 [16]uint8
	VP8Modes(r, &probs, &above, &left, &modes)
	restore := cpu.DisableAll()
	VP8Modes(r2, &probs, &above2, &left2, &modes2)
	restore()
	require.Equal(t, r2.Ended, r.Ended)
	if !r.Ended {
		require.Equal(t, modes2, modes)
		require.Equal(t, r2, r)
		require.Equal(t, [2][4]uint8{above2, left2}, [2][4]uint8{above, left})
	}
}

// vp8Compare runs f with vector instructions and without and compares the
// memory that it gives back.
func vp8Compare(t *testing.T, what string, f func() []byte) {
	got := string(f())
	restore := cpu.DisableAll()
	want := string(f())
	restore()
	if got != want {
		require.Equal(t, []byte(want), []byte(got), what)
	}
}

func TestVP8Add(t *testing.T) {
	needsVectors(t)
	rnd := rand.New(rand.NewPCG(41, 2))
	for round := range short.Rounds(t, 5000, 500) {
		var coef [4][16]int16
		most := []int32{1 << 13, 300, 30}[round%3]
		for i := range coef {
			for k := range coef[i] {
				if round%2 == 0 || k < 3 || rnd.IntN(3) == 0 {
					coef[i][k] = int16(rnd.Int32N(2*most) - most)
				}
			}
		}
		var in [4 * 40]byte
		for i := range in {
			in[i] = byte(rnd.Uint32())
		}
		vp8Compare(t, "row", func() []byte {
			p := in
			VP8AddRow(p[:], p[16:], 40, (*[2][16]int16)(coef[:]), (*[2][16]int16)(coef[2:]))
			return p[:]
		})
		// Without overflow, all transforms of libwebp are equal.
		count := uint8(16)
		if round%4 == 1 {
			count = 3
			few := coef[0]
			coef[0] = [16]int16{few[0], few[1], 0, 0, few[4]}
		} else if round%4 == 3 {
			count = 1
			coef[0] = [16]int16{coef[0][0]}
		}
		p, q := in, in
		VP8Add(p[:], 40, &coef[0], count)
		vp8AddAll(q[:], 40, &coef[0])
		require.Equal(t, p, q)
	}
}

func TestVP8PredictBlocks(t *testing.T) {
	needsVectors(t)
	rnd := rand.New(rand.NewPCG(41, 6))
	for round := range short.Rounds(t, 2000, 200) {
		var m VP8Macroblock
		var modes [16]uint8
		for i := range modes {
			modes[i] = uint8(rnd.UintN(10))
			if round < 10 {
				modes[i] = uint8(round)
			}
			block := VP8Luma + i
			m.Count[block] = uint8([]uint{0, 1, 3, 16}[rnd.UintN(4)])
			most := []int32{1 << 12, 300, 30}[round%3]
			for k := range m.Count[block] {
				m.Coef[block][vp8Zigzag[k]] = int16(rnd.Int32N(2*most) - most)
			}
		}
		const stride = 40
		var in [17 * stride]byte
		for i := range in {
			in[i] = byte(rnd.Uint32())
		}
		vp8Compare(t, "blocks", func() []byte {
			p := in
			VP8PredictBlocks(p[:], stride+5, stride, &modes, &m)
			for y := range 16 { // Go writes to the right
				copy(p[(y+1)*stride+21:][:4], in[:])
			}
			return p[:]
		})
	}
}

func TestVP8True(t *testing.T) {
	needsVectors(t)
	rnd := rand.New(rand.NewPCG(41, 3))
	for range short.Rounds(t, 300, 30) {
		var in [17 * 40]byte
		for i := range in {
			in[i] = byte(rnd.Uint32())
		}
		for _, n := range []int{4, 8, 16} {
			vp8Compare(t, "true", func() []byte {
				p := in
				VP8True(p[:], 45, 40, n)
				return p[:]
			})
		}
	}
}

func TestVP8Filter(t *testing.T) {
	needsVectors(t)
	rnd := rand.New(rand.NewPCG(41, 4))
	const stride = 48
	for round := range short.Rounds(t, 20000, 1000) {
		var in [3][24 * stride]byte
		// Samples that are nearly equal are filtered, others are not.
		most := []uint32{256, 3, 9, 40, 120}[round%5]
		base := rnd.Uint32N(256)
		for i := range in {
			for k := range in[i] {
				in[i][k] = byte(max(0, min(int(base)+int(rnd.Uint32N(most))-int(most/2), 255)))
				if k%stride == 16 && round%3 == 0 {
					base = rnd.Uint32N(256)
				}
			}
		}
		f := VP8Filter{
			Limit: uint8(1 + rnd.IntN(189)), Interior: uint8(1 + rnd.IntN(63)), Variance: uint8(rnd.IntN(3)),
			Inner: rnd.IntN(2) == 0, Left: rnd.IntN(2) == 0, Above: rnd.IntN(2) == 0,
		}
		vp8Compare(t, "filter", func() []byte {
			p := in
			VP8FilterNormal(p[0][:], 8*stride+16, stride, p[1][:], p[2][:], 8*stride+16, stride, &f)
			return slices.Concat(p[0][:], p[1][:], p[2][:])
		})
		vp8Compare(t, "simple filter", func() []byte {
			p := in[0]
			VP8FilterSimple(p[:], 8*stride+16, stride, &f)
			return p[:]
		})
	}
}

func TestVP8ToRGB(t *testing.T) { testVP8ToRGBIn(t, &guard{}) }

func testVP8ToRGBIn(t *testing.T, f fence) {
	rnd := rand.New(rand.NewPCG(41, 5))
	for n := 1; n <= 150; n++ {
		for _, size := range []int{3, 4} {
			y := f.bytes(0, n)
			chroma := VP8Chroma420{f.bytes(1, (n+1)/2), f.bytes(2, (n+1)/2), f.bytes(3, (n+1)/2), f.bytes(4, (n+1)/2)}
			for _, p := range [][]byte{y, chroma.UNear, chroma.UFar, chroma.VNear, chroma.VFar} {
				for i := range p {
					p[i] = byte(rnd.Uint32())
					if n%3 == 0 {
						p[i] = byte(rnd.Uint32N(2) * 255)
					}
				}
			}
			dst := f.bytes(5, n*size)
			VP8ToRGB(dst, y, &chroma, size)
			f.check(t, "VP8ToRGB")
			require.Equal(t, vp8PlainRGB(y, &chroma, size), append([]byte{}, dst...), "%d pixels of %d bytes", n, size)
		}
	}
}

// vp8PlainRGB is VP8ToRGB, pixel by pixel.
func vp8PlainRGB(y []byte, c *VP8Chroma420, size int) []byte {
	dst, last := make([]byte, len(y)*size), (len(y)-1)/2
	for x, l := range y {
		u, v := vp8Edged(c.UNear[x/2], c.UFar[x/2]), vp8Edged(c.VNear[x/2], c.VFar[x/2])
		if i := (x - 1) / 2; x > 0 && i < last {
			u0, u1 := vp8Mixed(c.UNear[i], c.UNear[i+1], c.UFar[i], c.UFar[i+1])
			v0, v1 := vp8Mixed(c.VNear[i], c.VNear[i+1], c.VFar[i], c.VFar[i+1])
			u, v = u0, v0
			if x%2 == 0 {
				u, v = u1, v1
			}
		}
		vp8Pixel(dst[x*size:], l, u, v, size)
	}
	return dst
}
