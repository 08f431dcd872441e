package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// blockLen is how many elements the ops that work in a wider type convert at a time.
const blockLen = 512

// loadFloats reads elements from index i on as float64, which holds every dtype
// but int64 exactly; int64 is rounded.
func loadFloats(dst []float64, t *tensor.Tensor, i int) {
	switch t.DType {
	case tensor.Float32:
		load(dst, tensor.View[float32](t)[i:])
	case tensor.Float64:
		load(dst, tensor.View[float64](t)[i:])
	case tensor.Float16:
		for k, v := range tensor.View[uint16](t)[i:][:len(dst)] {
			dst[k] = float64(tensor.Float16ToFloat32(v))
		}
	case tensor.BFloat16:
		for k, v := range tensor.View[uint16](t)[i:][:len(dst)] {
			dst[k] = float64(tensor.BFloat16ToFloat32(v))
		}
	default:
		loadInts(dst, t, i)
	}
}

// loadInts reads elements of an integer dtype or bools from index i on.
func loadInts[D int64 | float64](dst []D, t *tensor.Tensor, i int) {
	switch t.DType {
	case tensor.Uint8:
		load(dst, t.Data[i:])
	case tensor.Int8:
		load(dst, tensor.View[int8](t)[i:])
	case tensor.Uint16:
		load(dst, tensor.View[uint16](t)[i:])
	case tensor.Int16:
		load(dst, tensor.View[int16](t)[i:])
	case tensor.Int32:
		load(dst, tensor.View[int32](t)[i:])
	case tensor.Int64:
		load(dst, tensor.View[int64](t)[i:])
	case tensor.Bool:
		for k, v := range t.Data[i:][:len(dst)] {
			dst[k] = D(truth(v != 0))
		}
	}
}

func load[D int64 | float64, S tensor.Elem](dst []D, src []S) {
	for k, v := range src[:len(dst)] {
		dst[k] = D(v)
	}
}

// storeInts writes integers as elements of any dtype from index i on. Integer
// types keep the low bits, the floating-point types round half to even.
func storeInts(t *tensor.Tensor, i int, src []int64) {
	switch t.DType {
	case tensor.Uint8:
		store(t.Data[i:], src)
	case tensor.Int8:
		store(tensor.View[int8](t)[i:], src)
	case tensor.Uint16:
		store(tensor.View[uint16](t)[i:], src)
	case tensor.Int16:
		store(tensor.View[int16](t)[i:], src)
	case tensor.Int32:
		store(tensor.View[int32](t)[i:], src)
	case tensor.Int64:
		store(tensor.View[int64](t)[i:], src)
	default:
		storeFloats(t, i, src)
	}
}

// storeFloats writes numbers as elements of a floating-point dtype or bools, rounded half to even.
func storeFloats[S int64 | float64](t *tensor.Tensor, i int, src []S) {
	switch t.DType {
	case tensor.Float32:
		store(tensor.View[float32](t)[i:], src)
	case tensor.Float64:
		store(tensor.View[float64](t)[i:], src)
	case tensor.Bool:
		for k, v := range src {
			t.Data[i+k] = truth(v != 0)
		}
	case tensor.Float16:
		out := tensor.View[uint16](t)[i:]
		for k, v := range src {
			out[k] = tensor.Float16FromFloat64(float64(v)) // which holds every integer that is not beyond float16
		}
	case tensor.BFloat16:
		out := tensor.View[uint16](t)[i:]
		for k, v := range src {
			out[k] = tensor.BFloat16FromFloat32(float32(v))
		}
	}
}

func store[D tensor.Elem, S int64 | float64](dst []D, src []S) {
	dst = dst[:len(src)]
	for k, v := range src {
		dst[k] = D(v)
	}
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// toInt is v without its fraction as an int64: one outside of lo .. hi becomes
// the nearer of the two, a NaN 0. Go leaves the conversion of such values to
// the platform, so it is never asked to.
func toInt(v, lo, hi float64) int64 {
	switch {
	case v != v:
		return 0
	case v <= lo:
		v = lo
	case v >= hi:
		if hi >= math.MaxInt64-1023 {
			return math.MaxInt64 // what no float64 holds
		}
		v = hi
	}
	return int64(v)
}

// isFloat reports whether a dtype is a floating-point type.
func isFloat(d tensor.DType) bool {
	return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
}
