package tensor

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// halfGoldens are digests of NumPy's and ml_dtypes' conversions; see
// testdata/gen/tensors/tensor_files.py.
type halfGoldens struct {
	Low32 []uint32 `json:"float32_low"`
	Low64 []uint64 `json:"float64_low"`
	F16   []string `json:"float16"`
	BF16  []string `json:"bfloat16"`
	F64   []string `json:"float16_from_float64"`
	To32  string   `json:"float32_from_float16"`
	BTo32 string   `json:"float32_from_bfloat16"`
	Near  string   `json:"float16_near"`
}

func digest[T uint16 | uint32](v []T) string {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
		panic(err)
	}
	s := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(s[:])
}

func TestHalfGoldens(t *testing.T) {
	js, err := os.ReadFile("testdata/half.json")
	require.NoError(t, err)
	var g halfGoldens
	require.NoError(t, json.Unmarshal(js, &g))
	require.Len(t, g.F16, len(g.Low32))
	require.Len(t, g.F64, len(g.Low64))

	out := make([]uint16, 1<<16)
	for i, low := range g.Low32 {
		for h := range out {
			out[h] = Float16FromFloat32(math.Float32frombits(uint32(h)<<16 | low))
		}
		require.Equal(t, g.F16[i], digest(out), "float16, low half %#x", low)
		for h := range out {
			out[h] = BFloat16FromFloat32(math.Float32frombits(uint32(h)<<16 | low))
		}
		require.Equal(t, g.BF16[i], digest(out), "bfloat16, low half %#x", low)
	}
	for i, low := range g.Low64 {
		for h := range out {
			out[h] = Float16FromFloat64(math.Float64frombits(uint64(h)<<48 | low))
		}
		require.Equal(t, g.F64[i], digest(out), "float16 from float64, low part %#x", low)
	}
	wide := make([]uint32, 1<<16)
	for h := range wide {
		wide[h] = math.Float32bits(Float16ToFloat32(uint16(h)))
	}
	require.Equal(t, g.To32, digest(wide))
	for h := range wide {
		wide[h] = math.Float32bits(BFloat16ToFloat32(uint16(h)))
	}
	require.Equal(t, g.BTo32, digest(wide))

	var near []uint16
	for _, sign := range []float64{1, -1} {
		for h := range uint16(0x7c00) {
			f, next := float64(Float16ToFloat32(h)), 65536.0
			if h < 0x7bff {
				next = float64(Float16ToFloat32(h + 1))
			}
			mid := (f + next) / 2
			for _, v := range []float64{f, math.Nextafter(mid, 0), mid, math.Nextafter(mid, 1e9)} {
				near = append(near, Float16FromFloat64(sign*v))
			}
		}
	}
	require.Equal(t, g.Near, digest(near))
}

func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		require.Equal(t, uint16(h), Float16FromFloat32(Float16ToFloat32(uint16(h))), "float16 %#04x", h)
		want := uint16(h)
		if want&0x7fff > 0x7f80 { // any NaN
			want = want&0x8000 | 0x7fc0
		}
		require.Equal(t, want, BFloat16FromFloat32(BFloat16ToFloat32(uint16(h))), "bfloat16 %#04x", h)
		if h&0x7fff <= 0x7c00 {
			require.Equal(t, uint16(h), Float16FromFloat64(float64(Float16ToFloat32(uint16(h)))), "float64 %#04x", h)
		}
	}
}

func TestHalfRules(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		f    float64
		want uint16
	}{
		{0, 0}, {math.Copysign(0, -1), 0x8000}, {1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff},
		{math.Nextafter(65520, 0), 0x7bff}, {65520, 0x7c00}, {-65520, 0xfc00}, {inf, 0x7c00}, {-inf, 0xfc00},
		{0x1p-25, 0}, {-0x1p-25, 0x8000}, {math.Nextafter(0x1p-25, 1), 1}, {0x1p-24, 1}, {0x3p-25, 2},
		{0x1p-14, 0x400}, {math.Nextafter(0x1p-14, 0), 0x400}, {0x1.ff8p-15, 0x3ff}, {1 + 0x1p-11, 0x3c00}, {1 + 0x3p-11, 0x3c02},
		// Rounded through float32 this tie breaks to even and loses the last
		// bit.
		{1 + 0x1p-11 + 0x1p-40, 0x3c01},
	} {
		require.Equal(t, c.want, Float16FromFloat64(c.f), "float16 of %x", c.f)
		if f := float32(c.f); float64(f) == c.f {
			require.Equal(t, c.want, Float16FromFloat32(f), "float16 of float32 %x", f)
		}
	}
	for _, c := range []struct{ f, want uint32 }{
		{0x7f7f7fff, 0x7f7f}, {0x7f7f8000, 0x7f80}, {0xff7f8000, 0xff80}, {0x7f800000, 0x7f80},
		{1, 0}, {0x8000, 0}, {0x8001, 1}, {0x18000, 2}, {0x80000000, 0x8000},
		{0x7f800001, 0x7fc0}, {0xffffffff, 0xffc0},
	} {
		require.Equal(t, uint16(c.want), BFloat16FromFloat32(math.Float32frombits(c.f)), "bfloat16 of %#x", c.f)
	}
	// No NaN becomes an infinity.
	for _, b := range []uint32{0x7f800001, 0xff800001, 0x7fbfffff, 0x7f801fff} {
		h := Float16FromFloat32(math.Float32frombits(b))
		require.NotZero(t, h&0x3ff, "%#x", b)
	}
}

func BenchmarkFloat16FromFloat32(b *testing.B) {
	src := make([]float32, 4096)
	for i := range src {
		src[i] = float32(i-2048) / 700
	}
	dst := make([]uint16, len(src))
	b.SetBytes(int64(4 * len(src)))
	for b.Loop() {
		for i, f := range src {
			dst[i] = Float16FromFloat32(f)
		}
	}
}
