package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// blockLen is the number of elements that an op with a wider intermediate type
// converts at a time.
const blockLen = 512

// loadFloats reads elements from index i on as float64. The conversion is exact
// for every dtype except int64, which is rounded.
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

// loadInts reads elements of an integer dtype or bool from index i on.
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
			dst[k] = D(boolByte(v != 0))
		}
	}
}

func load[D int64 | float64, S tensor.Elem](dst []D, src []S) {
	for k, v := range src[:len(dst)] {
		dst[k] = D(v)
	}
}

// storeInts writes integers as elements of any dtype from index i on. Integer
// dtypes keep the low bits; floating-point dtypes round half to even.
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

// storeFloats writes numbers as elements of a floating-point dtype or bool,
// rounded half to even.
func storeFloats[S int64 | float64](t *tensor.Tensor, i int, src []S) {
	switch t.DType {
	case tensor.Float32:
		store(tensor.View[float32](t)[i:], src)
	case tensor.Float64:
		store(tensor.View[float64](t)[i:], src)
	case tensor.Bool:
		for k, v := range src {
			t.Data[i+k] = boolByte(v != 0)
		}
	case tensor.Float16:
		out := tensor.View[uint16](t)[i:]
		for k, v := range src {
			out[k] = tensor.Float16FromFloat64(float64(v)) // exact for integers within float16's range
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

// toInt truncates v to an int64. Values outside lo..hi become the nearer bound,
// and NaN becomes 0. Go leaves the conversion of such values to the platform,
// so toInt avoids it.
func toInt(v, lo, hi float64) int64 {
	switch {
	case v != v:
		return 0
	case v <= lo:
		v = lo
	case v >= hi:
		if hi >= math.MaxInt64-1023 {
			return math.MaxInt64 // no float64 holds MaxInt64
		}
		v = hi
	}
	return int64(v)
}

// isFloat reports whether d is a floating-point type.
func isFloat(d tensor.DType) bool {
	return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
}
