package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// yuvWant is the rule of YUV420ToRGB for one pixel.
func yuvWant(y, u, v byte) [3]byte {
	l := int32(uint32(y)*257*yuvY>>16) + 32
	cu, cv := int32(u)-128, int32(v)-128
	return [3]byte{
		clampByte((l + yuvVR*cv) >> 6),
		clampByte((l - yuvUG*cu - yuvVG*cv) >> 6),
		clampByte((l + yuvUB*cu) >> 6),
	}
}

// yuvSample returns the position of the chroma sample of pixel i.
func yuvSample(i, step int) int { return i / 2 * step }

func TestYUV420ToRGB(t *testing.T) { testYUVIn(t, &guard{}) }

func testYUVIn(t *testing.T, f fence) {
	rnd := rand.New(rand.NewPCG(18, 1))
	check := func(n, step int, fill func(y, u, v []byte)) {
		chroma := yuvSample(n-1, step) + 1
		dst, y := f.bytes(0, 3*n), f.bytes(1, n)
		u, v := f.bytes(2, chroma), f.bytes(3, chroma)
		fill(y, u, v)
		want := make([]byte, 0, 3*n)
		for i := range n {
			p := yuvWant(y[i], u[yuvSample(i, step)], v[yuvSample(i, step)])
			want = append(want, p[:]...)
		}
		YUV420ToRGB(dst, y, u, v, step)
		if string(want) != string(dst) {
			require.Equal(t, want, dst, "%d pixels, step %d", n, step)
		}
		f.check(t, "yuv420ToRGB")
	}
	few := short.Step(t, 5)
	for step := 1; step <= 3; step++ {
		for n := 1; n <= 100; n += few {
			check(n, step, func(y, u, v []byte) {
				for _, p := range [][]byte{y, u, v} {
					for i := range p {
						p[i] = byte(rnd.Uint32())
					}
				}
			})
		}
	}
	// All values of Y with each sampled pair of U and V, extremes included. The
	// bytes between the samples are others.
	for step := 1; step <= 2; step++ {
		for u := 0; u < 256; u += 15 * few {
			for v := 0; v < 256; v += 5 {
				check(512+32, step, func(py, pu, pv []byte) {
					for i := range py {
						py[i] = byte(i / 2)
					}
					for i := range pu {
						pu[i], pv[i] = byte(u), byte(v)
						if i%step != 0 {
							pu[i], pv[i] = byte(v+128), byte(u+128)
						}
					}
				})
			}
		}
	}
}
