package onnx

import (
	"bytes"
	"fmt"

	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/tensor"
)

// The message fields that this package knows (onnx.proto, onnx 1.23.2).
const (
	modelIR        = 1
	modelProducer  = 2
	modelVersion   = 3 // producer_version
	modelGraph     = 7
	modelOpset     = 8
	modelMetadata  = 14
	modelFunctions = 25

	opsetDomain  = 1
	opsetVersion = 2

	entryKey   = 1
	entryValue = 2

	functionName   = 1
	functionOpset  = 9
	functionDomain = 10

	graphNode        = 1
	graphName        = 2
	graphInitializer = 5
	graphInput       = 11
	graphOutput      = 12
	graphValueInfo   = 13
	graphSparse      = 15

	nodeInput     = 1
	nodeOutput    = 2
	nodeName      = 3
	nodeType      = 4
	nodeAttribute = 5

	attrName   = 1
	attrFloat  = 2
	attrInt    = 3
	attrString = 4
	attrGraph  = 6
	attrInts   = 8
	attrGraphs = 11
	attrType   = 20

	valueName = 1
	valueType = 2

	typeTensor = 1
	tensorElem = 1
	tensorDims = 2 // shape
	shapeDim   = 1
	dimValue   = 1
	dimParam   = 2

	tensorName   = 8 // TensorProto
	sparseValues = 1 // SparseTensorProto
)

// The values of AttributeProto.AttributeType that this package writes.
const (
	attrIsFloat  = 1
	attrIsInt    = 2
	attrIsString = 3
	attrIsInts   = 7
)

// elemTypes maps dtypes to values of TensorProto.DataType.
var elemTypes = map[tensor.DType]uint64{
	tensor.Float32: 1, tensor.Uint8: 2, tensor.Int8: 3, tensor.Uint16: 4, tensor.Int16: 5, tensor.Int32: 6,
	tensor.Int64: 7, tensor.Bool: 9, tensor.Float16: 10, tensor.Float64: 11, tensor.BFloat16: 16,
}

// elemType returns the dtype of a TensorProto.DataType, Invalid if it is not
// supported.
func elemType(n uint64) tensor.DType {
	for d, v := range elemTypes {
		if v == n {
			return d
		}
	}
	return tensor.Invalid
}

func appendInt(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func appendString(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// attr is an attribute of a node: an int64, a []int64, a float32 or a string.
type attr struct {
	name  string
	value any
}

func (a attr) append(b []byte) []byte {
	m := appendString(nil, attrName, a.name)
	kind := int64(0)
	switch v := a.value.(type) {
	case int64:
		m, kind = appendInt(m, attrInt, v), attrIsInt
	case float32:
		m = protowire.AppendTag(m, attrFloat, protowire.Fixed32Type)
		m, kind = protowire.AppendFixed32(m, float32bits(v)), attrIsFloat
	case string:
		m, kind = appendString(m, attrString, v), attrIsString
	case []int64:
		for _, i := range v {
			m = appendInt(m, attrInts, i)
		}
		kind = attrIsInts
	}
	return appendMessage(b, nodeAttribute, appendInt(m, attrType, kind))
}

// appendValueInfo declares a tensor: its dtype, and a number or a name for each
// dimension.
func appendValueInfo(b []byte, field protowire.Number, name string, d tensor.DType, dims []dimension) []byte {
	var shape []byte
	for _, n := range dims {
		var dim []byte
		if n.name != "" {
			dim = appendString(nil, dimParam, n.name)
		} else {
			dim = appendInt(nil, dimValue, n.n)
		}
		shape = appendMessage(shape, shapeDim, dim)
	}
	t := appendInt(nil, tensorElem, int64(elemTypes[d]))
	t = appendMessage(t, tensorDims, shape)
	v := appendString(nil, valueName, name)
	v = appendMessage(v, valueType, appendMessage(nil, typeTensor, t))
	return appendMessage(b, field, v)
}

// dimension is a number, or a name for an unknown number.
type dimension struct {
	n    int64
	name string
}

// appendTensor writes an initializer.
func appendTensor(b []byte, field protowire.Number, name string, t *tensor.Tensor) ([]byte, error) {
	var m bytes.Buffer
	if err := tensor.WriteTensorProto(&m, name, t); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	return appendMessage(b, field, m.Bytes()), nil
}
