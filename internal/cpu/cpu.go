// Package cpu reports which instruction sets the kernels may use.
package cpu

// Feature is an instruction set.
type Feature int

// The instruction sets with kernels. Build tag purego disables all of them.
const (
	AVX2   Feature = iota
	FMA            // AVX2, and FMA3
	AVX512         // F, BW, DQ and VL
	VNNI           // AVX512, and AVX512_VNNI
	VBMI           // VNNI, and AVX512_VBMI
	BMI2           // and BMI1
	NEON
	count
)

var has [count]bool

// Has reports whether the processor has f and f is not disabled.
func Has(f Feature) bool { return has[f] }

// Any reports whether Has is true for some feature.
func Any() bool { return has != [count]bool{} }

// Disable turns f off until restore is called. It is for tests: no kernel may
// run at the same time.
func Disable(f Feature) (restore func()) {
	old := has[f]
	has[f] = false
	return func() { has[f] = old }
}

// DisableAll is Disable for every feature. Only the Go reference then runs.
func DisableAll() (restore func()) {
	old := has
	has = [count]bool{}
	return func() { has = old }
}
