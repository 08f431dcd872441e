package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

func TestUpsample(t *testing.T) {
	src := []byte{0, 100, 101, 255}
	dst := make([]byte, 8)
	UpsampleH2V1(dst, src, 4)
	require.Equal(t, []byte{0, 25, 75, 100, 101, 140, 216, 255}, dst)

	// Halves round down at odd positions and up at even ones.
	UpsampleH2V1(dst[:6], []byte{0, 2, 0}, 3)
	require.Equal(t, []byte{0, 1, 1, 2, 0, 0}, dst[:6])

	near, far := []byte{10, 20, 30}, []byte{20, 20, 10}
	UpsampleH1V2(dst[:3], near, far, 3, 1)
	require.Equal(t, []byte{12, 20, 25}, dst[:3])
	UpsampleH1V2(dst[:3], near, far, 3, 2)
	require.Equal(t, []byte{13, 20, 25}, dst[:3])

	// The column sums are 50, 80 and 100. They are mixed 3:1 with the biases 8
	// and 7.
	UpsampleH2V2(dst[:6], near, far, 3)
	require.Equal(t, []byte{13, 14, 18, 21, 24, 25}, dst[:6])

	UpsampleBox(dst[:7], []byte{1, 2, 3}, 3)
	require.Equal(t, []byte{1, 1, 1, 2, 2, 2, 3}, dst[:7])

	// A constant row stays constant.
	c := []byte{77, 77, 77, 77}
	UpsampleH2V2(dst, c, c, 4)
	require.Equal(t, []byte{77, 77, 77, 77, 77, 77, 77, 77}, dst)
}

// upsamplers lists the functions with assembly. out is the number of output
// samples per input sample.
var upsamplers = []struct {
	name string
	out  int
	f    func(dst, near, far []byte, n int)
}{
	{"H2V1", 2, func(dst, near, _ []byte, n int) { UpsampleH2V1(dst, near, n) }},
	{"H2V2", 2, UpsampleH2V2},
	{"H1V2 upper", 1, func(dst, near, far []byte, n int) { UpsampleH1V2(dst, near, far, n, 1) }},
	{"H1V2 lower", 1, func(dst, near, far []byte, n int) { UpsampleH1V2(dst, near, far, n, 2) }},
}

// TestUpsampleWidths compares the assembly with the reference at every width
// and many alignments, and checks that nothing outside the samples is written.
func TestUpsampleWidths(t *testing.T) {
	needsVectors(t)
	r := rand.New(rand.NewPCG(3, 5))
	src := make([]byte, 600)
	for _, u := range upsamplers {
		for n := 3; n < 140; n++ {
			for off := range 33 {
				for i := range src {
					src[i] = byte(r.Uint32())
					if off%2 == 0 {
						src[i] = byte(-(r.Uint32() & 1))
					}
				}
				near, far := src[off:off+n], src[300+off/2:][:n]
				got := make([]byte, off+u.out*n+70)
				for i := range got {
					got[i] = byte(i)
				}
				want := append([]byte(nil), got...)
				u.f(got[off:off+u.out*n], near, far, n)
				restore := cpu.DisableAll()
				u.f(want[off:off+u.out*n], near, far, n)
				restore()
				require.Equal(t, want, got, "%s, width %d, offset %d", u.name, n, off)
			}
		}
	}
	// Test every pair of neighbours, and of rows.
	var near, far [258]byte
	for a := range 256 {
		for b := range near {
			near[b], far[b] = byte(a), byte(b)
			if a%2 == b%2 {
				near[b], far[b] = byte(b), byte(a)
			}
		}
		for _, u := range upsamplers {
			var got, want [516]byte
			u.f(got[:258*u.out], near[:], far[:], 258)
			restore := cpu.DisableAll()
			u.f(want[:258*u.out], near[:], far[:], 258)
			restore()
			require.Equal(t, want, got, "%s, %d", u.name, a)
		}
	}
}

func BenchmarkUpsample(b *testing.B) {
	for _, n := range []int{188, 512} {
		near, far, dst := make([]byte, n), make([]byte, n), make([]byte, 2*n)
		for _, u := range upsamplers[:3] {
			b.Run(fmt.Sprint(u.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					u.f(dst, near, far, n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(u.out*n), "ns/sample")
			})
		}
	}
}
