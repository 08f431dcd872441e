package main

import (
	"bytes"
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/infer-prep/infer-prep/tensor"
)

// message is a protobuf message that is being written.
type message []byte

func (m message) bytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m message) text(field protowire.Number, s string) message { return m.bytes(field, []byte(s)) }

func (m message) number(field protowire.Number, n int) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(n))
}

// node returns a NodeProto with attributes of integers. A list of one number is
// an attribute of one, as Gemm and Flatten want it.
func node(op string, in []string, out string, attributes map[string][]int, order ...string) []byte {
	var m message
	for _, name := range in {
		m = m.text(1, name)
	}
	m = m.text(2, out).text(3, out).text(4, op)
	for _, name := range order {
		a := message(nil).text(1, name)
		if l := attributes[name]; len(l) == 1 {
			a = a.number(3, l[0]).number(20, 2) // AttributeProto.INT
		} else {
			for _, n := range l {
				a = a.number(8, n)
			}
			a = a.number(20, 7) // AttributeProto.INTS
		}
		m = m.bytes(5, a)
	}
	return m
}

// value returns a ValueInfoProto of float32 with a batch axis of any size.
func value(name string, dims ...int) []byte {
	shape := message(nil).bytes(1, message(nil).text(2, "batch"))
	for _, n := range dims {
		shape = shape.bytes(1, message(nil).number(1, n))
	}
	return message(nil).text(1, name).bytes(2, message(nil).bytes(1, message(nil).number(1, 1).bytes(2, shape)))
}

// initializer returns a TensorProto of float32.
func initializer(name string, values []float32, dims ...int) ([]byte, error) {
	t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(dims...)})
	if err != nil {
		return nil, err
	}
	copy(tensor.View[float32](t), values)
	var b bytes.Buffer
	err = tensor.WriteTensorProto(&b, name, t)
	return b.Bytes(), err
}

// onnxModel returns the model from image (batch, 3, side, side) to scores
// (batch, classes) as ONNX of opset 18.
func onnxModel(h *head) ([]byte, error) {
	var g message
	conv := map[string][]int{"group": {3}, "kernel_shape": {kernel, kernel}, "pads": {2, 2, 2, 2}, "strides": {2, 2}}
	one := map[string][]int{"kernel_shape": {1, 1}}
	pool := map[string][]int{"kernel_shape": {2, 2}, "strides": {2, 2}}
	for _, n := range [][]byte{
		node("Conv", []string{"image", "edges"}, "c", conv, "group", "kernel_shape", "pads", "strides"),
		node("Abs", []string{"c"}, "a", nil),
		node("Conv", []string{"a", "sum"}, "energy", one, "kernel_shape"),
		node("AveragePool", []string{"energy"}, "mean", pool, "kernel_shape", "strides"),
		node("Sqrt", []string{"mean"}, "root", nil),
		node("Flatten", []string{"root"}, "features", map[string][]int{"axis": {1}}, "axis"),
		node("Gemm", []string{"features", "w1", "b1"}, "d1", nil),
		node("Relu", []string{"d1"}, "h", nil),
		node("Gemm", []string{"h", "w2", "b2"}, "scores", nil),
	} {
		g = g.bytes(1, n)
	}
	g = g.text(2, "training")
	classes := len(h.b2)
	var filters, sum []float32 // each colour's directions; their sums over the colours
	for range 3 {
		for k := range edges {
			filters = append(filters, edges[k][:]...)
		}
	}
	for i := range directions * 3 * directions {
		sum = append(sum, 0)
		if i/(3*directions) == i%directions {
			sum[i] = 1
		}
	}
	for _, w := range []struct {
		name   string
		values []float32
		dims   []int
	}{
		{"edges", filters, []int{3 * directions, 1, kernel, kernel}},
		{"sum", sum, []int{directions, 3 * directions, 1, 1}},
		{"w1", h.w1, []int{features, hidden}}, {"b1", h.b1, []int{hidden}},
		{"w2", h.w2, []int{hidden, classes}}, {"b2", h.b2, []int{classes}},
	} {
		b, err := initializer(w.name, w.values, w.dims...)
		if err != nil {
			return nil, err
		}
		g = g.bytes(5, b)
	}
	g = g.bytes(11, value("image", 3, side, side)).bytes(12, value("scores", classes))
	return message(nil).number(1, 8).text(2, "infer-prep examples/training").bytes(7, g).
		bytes(8, message(nil).number(2, 18)), nil
}

// weightBytes returns the trained weights, for a digest.
func weightBytes(h *head) (b []byte) {
	for _, p := range h.parts() {
		b = littleEndian(b, *p.values)
	}
	return b
}

// littleEndian appends the bits of numbers.
func littleEndian(b []byte, l []float32) []byte {
	for _, x := range l {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
