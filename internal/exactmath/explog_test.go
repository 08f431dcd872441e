package exactmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// bigExp returns e^x with 200 bits: the series of x/2^20, squared 20 times.
func bigExp(x *big.Float) *big.Float {
	const squarings = 20
	r := new(big.Float).SetPrec(200).SetMantExp(x, -squarings)
	sum, term := big.NewFloat(1).SetPrec(200), big.NewFloat(1).SetPrec(200)
	for n := int64(1); n < 30; n++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetPrec(200).SetInt64(n))
		sum.Add(sum, term)
	}
	for range squarings {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps returns the error of got in units in the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	d := new(big.Float).SetPrec(200).SetFloat64(got)
	e, _ := d.Sub(d, want).Float64()
	return math.Abs(e) / (math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w))
}

func TestExp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range short.Rounds(t, 6000, 1000) {
		x := r.Float64()*4 - 2
		if n%3 == 0 {
			x = r.Float64()*1400 - 700
		}
		require.LessOrEqual(t, ulps(Exp(x), bigExp(big.NewFloat(x).SetPrec(200))), 0.6, "exp(%v)", x)
	}
	require.Equal(t, 1.0, Exp(0))
	require.Equal(t, math.E, Exp(1))
	require.True(t, math.IsInf(Exp(710), 1))
	require.Zero(t, Exp(-800))
	require.True(t, math.IsNaN(Exp(math.NaN())))
}

func TestLog(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(x float64) {
		// One Newton step from a close value is accurate to 100 bits. math.Log
		// does not help for subnormal numbers, where its assembly is wrong.
		y := new(big.Float).SetPrec(200).SetFloat64(Log(x))
		q := new(big.Float).SetPrec(200).Quo(new(big.Float).SetPrec(200).SetFloat64(x), bigExp(y))
		q.Sub(q, big.NewFloat(1))
		y.Add(y, q)
		half := new(big.Float).SetPrec(200).Mul(q, q)
		y.Sub(y, half.Quo(half, big.NewFloat(2)))
		require.LessOrEqual(t, ulps(Log(x), y), 0.6, "log(%v)", x)
	}
	for range short.Rounds(t, 3000, 500) {
		check(r.Float64()*2 + 1e-300)
		check(1 + (r.Float64()-0.5)/1024)
		check(math.Ldexp(r.Float64()+0.5, r.IntN(2000)-1000))
	}
	for _, x := range []float64{3. / 4, 4. / 3, 0.3, 3.3, math.Sqrt2, math.Sqrt2 / 2, 5e-324, math.MaxFloat64, 1 - 0x1p-53, 1 + 0x1p-52} {
		check(x)
	}
	require.Zero(t, Log(1))
	require.True(t, math.IsInf(Log(0), -1))
	require.True(t, math.IsInf(Log(math.Inf(1)), 1))
	require.True(t, math.IsNaN(Log(-1)) && math.IsNaN(Log(math.NaN())))
}

func TestCos2Pi(t *testing.T) {
	for n := range 1000 {
		x := float64(n) / 999
		require.InDelta(t, math.Cos(2*math.Pi*x), Cos2Pi(x), 1e-15)
	}
}

func TestPow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range short.Rounds(t, 6000, 1000) {
		x := 1 - r.Float64()
		y := min(r.Float64()*5, 22/(1e-9+math.Abs(math.Log(x))))
		// e^(y*log(x)) with the logarithm as in TestLog
		q := new(big.Float).SetPrec(200).Quo(new(big.Float).SetPrec(200).SetFloat64(x), bigExp(new(big.Float).SetPrec(200).SetFloat64(Log(x))))
		log := q.Sub(q, big.NewFloat(1))
		log.Add(log, new(big.Float).SetPrec(200).SetFloat64(Log(x)))
		require.LessOrEqual(t, ulps(Pow(x, y), bigExp(log.Mul(log, big.NewFloat(y)))), 0.65, "pow(%v, %v)", x, y)
	}
	require.Equal(t, 1.0, Pow(0, 0))
	require.Equal(t, 1.0, Pow(1, 1e6))
	require.Zero(t, Pow(0, 2))
	require.Zero(t, Pow(0.5, 1e6))
	require.Equal(t, 0.3, Pow(0.3, 1))
	require.Equal(t, 0.25, Pow(0.5, 2))
	require.True(t, math.IsInf(Pow(2, 2000), 1))
}
