// Package kserve writes tensors in the JSON of KServe's inference protocol,
// version 2.
package kserve

import (
	"fmt"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/tensor"
)

// datatypes are the protocol's names of types.
var datatypes = map[tensor.DType]string{
	tensor.Bool: "BOOL", tensor.Uint8: "UINT8", tensor.Int8: "INT8", tensor.Uint16: "UINT16", tensor.Int16: "INT16",
	tensor.Int32: "INT32", tensor.Int64: "INT64", tensor.Float16: "FP16", tensor.BFloat16: "BF16", tensor.Float32: "FP32",
	tensor.Float64: "FP64", tensor.Bytes: "BYTES",
}

// Datatype returns the protocol's name of a type, such as FP32. It is empty if
// the protocol has none.
func Datatype(d tensor.DType) string { return datatypes[d] }

// AppendJSON appends element i of a dense tensor as the protocol's JSON. The
// text reads back as the same value, both as a float32 and as a float64. Types
// and values that JSON cannot hold are errors.
func AppendJSON(b []byte, t *tensor.Tensor, i int) ([]byte, error) {
	switch t.DType {
	case tensor.Bool:
		return strconv.AppendBool(b, t.Data[i] != 0), nil
	case tensor.Uint8:
		return strconv.AppendUint(b, uint64(t.Data[i]), 10), nil
	case tensor.Int8:
		return strconv.AppendInt(b, int64(int8(t.Data[i])), 10), nil
	case tensor.Uint16:
		return strconv.AppendUint(b, uint64(tensor.View[uint16](t)[i]), 10), nil
	case tensor.Int16:
		return strconv.AppendInt(b, int64(tensor.View[int16](t)[i]), 10), nil
	case tensor.Int32:
		return strconv.AppendInt(b, int64(tensor.View[int32](t)[i]), 10), nil
	case tensor.Int64:
		return strconv.AppendInt(b, tensor.View[int64](t)[i], 10), nil
	case tensor.Float32:
		v := tensor.View[float32](t)[i]
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return b, fmt.Errorf("element %d is %v, which JSON cannot hold", i, v)
		}
		// A reader may parse the shortest text as a float64 and round it again.
		n := len(b)
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
		if f, err := strconv.ParseFloat(string(b[n:]), 64); err != nil || float32(f) != v {
			b = strconv.AppendFloat(b[:n], float64(v), 'g', -1, 64)
		}
		return b, nil
	case tensor.Float64:
		v := tensor.View[float64](t)[i]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return b, fmt.Errorf("element %d is %v, which JSON cannot hold", i, v)
		}
		return strconv.AppendFloat(b, v, 'g', -1, 64), nil
	}
	return b, fmt.Errorf("a request cannot hold %v", t.Desc)
}
