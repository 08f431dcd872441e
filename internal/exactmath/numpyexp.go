package exactmath

import "math"

// numpyExp2 holds 2^(j/16), and numpyExp2Tail the rest of each, divided by it.
var (
	numpyExp2 = [16]float64{
		0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
		0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
		0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
		0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
	}
	numpyExp2Tail = [16]float64{
		0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
		0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54,
		-0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
		0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55,
	}
)

// NumPyExp returns e to the power of x, from -700 to 700, as exp of NumPy 2.4.6
// does for float64 on x86-64 with AVX-512. On other processors NumPy calls the
// C library, whose result is another one for 4.5 % of all x.
func NumPyExp(x float64) float64 {
	const log2e = 0x1.71547652b82fep+0
	// k is the exact product x*log2(e)*16 rounded down.
	k := math.Floor(float64(x * (16 * log2e)))
	if d := math.FMA(x, 16*log2e, -k); d < 0 {
		k--
	} else if d >= 1 {
		k++
	}
	r := math.FMA(-k/16, 0x1.62e42fefa39efp-1, x)
	r = math.FMA(-k/16, 0x1.abc9e3b39803fp-56, r)
	// The polynomial is (e^r - 1)/r.
	q := float64(r * r)
	p := math.FMA(0x1.7411836940c04p-10, r, 0x1.1101cbbc265c0p-7)
	p = math.FMA(q, p, math.FMA(0x1.55557242d68fep-5, r, 0x1.5555553939732p-3))
	p = math.FMA(q, p, math.FMA(0x1.000000000d008p-1, r, 0x1.fffffffffff70p-1))
	j := int(k) & 15
	t := numpyExp2[j]
	return math.Ldexp(math.FMA(t, math.FMA(p, r, numpyExp2Tail[j]), t), int(k)>>4)
}
