package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

func float32bits(f float32) uint32 { return math.Float32bits(f) }

// node is a NodeProto before it is written.
type node struct {
	kind    string
	in, out []string
	attrs   []attr
}

// constant is an initializer.
type constant struct {
	name string
	t    *tensor.Tensor
}

// builder collects the nodes and constants of a graph. A name consists of
// prefix, scope and a number, so that equal graphs have equal bytes.
type builder struct {
	opset  int
	prefix string
	scope  string // the current step: "3_normalize"
	nodes  []node
	consts []constant
	known  map[string]string // constants by type, shape and content
	counts map[string]int
	err    error // the first invalid constant
}

func newBuilder(opset int, prefix string) *builder {
	return &builder{opset: opset, prefix: prefix, known: map[string]string{}, counts: map[string]int{}}
}

func (b *builder) name(what string) string {
	n := b.prefix + what
	if b.scope != "" {
		n = b.prefix + b.scope + "/" + what
	}
	b.counts[n]++
	if c := b.counts[n]; c > 1 {
		n = fmt.Sprintf("%s_%d", n, c)
	}
	return n
}

// op appends a node with one output and returns the output's name.
func (b *builder) op(kind string, attrs []attr, in ...string) string {
	out := b.name(kind)
	b.nodes = append(b.nodes, node{kind: kind, in: in, out: []string{out}, attrs: attrs})
	return out
}

// rename changes the name old to another name, everywhere. It returns false and
// changes nothing if no node writes old.
func (b *builder) rename(old, to string) bool {
	i := slices.IndexFunc(b.nodes, func(n node) bool { return n.out[0] == old })
	if i < 0 {
		return false
	}
	b.nodes[i].out[0] = to
	for _, n := range b.nodes {
		for j, s := range n.in {
			if s == old {
				n.in[j] = to
			}
		}
	}
	return true
}

// add returns a constant with the value of t, which it keeps. Equal constants
// share a name.
func (b *builder) add(what string, t *tensor.Tensor) string {
	key := fmt.Sprint(t.Desc, string(t.Data))
	if n, ok := b.known[key]; ok {
		return n
	}
	n := b.name(what)
	b.known[key] = n
	b.consts = append(b.consts, constant{n, t})
	return n
}

// constOf returns a constant with these values and dimensions.
func constOf[T tensor.Elem](b *builder, what string, values []T, dims ...int) string {
	d := tensor.Desc{DType: dtypeOf[T](), Shape: tensor.Dims(dims...)}
	t, err := tensor.New(d)
	if err != nil || int(t.Len()) != len(values) {
		if b.err == nil {
			b.err = fmt.Errorf("onnx: constant of %v: %w", d, err)
		}
		return ""
	}
	copy(tensor.View[T](t), values)
	return b.add(what, t)
}

func dtypeOf[T tensor.Elem]() tensor.DType {
	switch any(*new(T)).(type) {
	case uint8:
		return tensor.Uint8
	case int8:
		return tensor.Int8
	case uint16:
		return tensor.Uint16
	case int16:
		return tensor.Int16
	case int32:
		return tensor.Int32
	case int64:
		return tensor.Int64
	case float32:
		return tensor.Float32
	default:
		return tensor.Float64
	}
}

// ints returns a constant vector of int64, for axes and sizes.
func (b *builder) ints(v ...int64) string { return constOf(b, "ints", v, len(v)) }

//go:noinline
func (b *builder) cast(x string, to tensor.DType) string {
	return b.op("Cast", []attr{{"to", int64(elemTypes[to])}}, x)
}

// graph writes the GraphProto's nodes and constants.
func (b *builder) graph() (nodes, consts []byte, err error) {
	if b.err != nil {
		return nil, nil, b.err
	}
	for _, n := range b.nodes {
		var m []byte
		for _, s := range n.in {
			m = appendString(m, nodeInput, s)
		}
		for _, s := range n.out {
			m = appendString(m, nodeOutput, s)
		}
		m = appendString(m, nodeName, "node:"+n.out[0])
		m = appendString(m, nodeType, n.kind)
		for _, a := range n.attrs {
			m = a.append(m)
		}
		nodes = appendMessage(nodes, graphNode, m)
	}
	for _, c := range b.consts {
		if consts, err = appendTensor(consts, graphInitializer, c.name, c.t); err != nil {
			return nil, nil, err
		}
	}
	return nodes, consts, nil
}

// num is an integer of the graph: a known value, or the name of an int64 vector
// of one element. Its arithmetic folds known values.
type num struct {
	v    int64
	name string
}

func known(v int) num { return num{v: int64(v)} }

func (b *builder) numName(n num) string {
	if n.name != "" {
		return n.name
	}
	return b.ints(n.v)
}

func (b *builder) arith(kind string, fold func(x, y int64) int64, x, y num) num {
	if x.name == "" && y.name == "" {
		return num{v: fold(x.v, y.v)}
	}
	return num{name: b.op(kind, nil, b.numName(x), b.numName(y))}
}

func (b *builder) plus(x, y num) num {
	if y == (num{}) {
		return x
	}
	return b.arith("Add", func(x, y int64) int64 { return x + y }, x, y)
}

func (b *builder) minus(x, y num) num {
	if y == (num{}) {
		return x
	}
	return b.arith("Sub", func(x, y int64) int64 { return x - y }, x, y)
}

func (b *builder) times(x, y num) num {
	return b.arith("Mul", func(x, y int64) int64 { return x * y }, x, y)
}

// over divides without remainder, so that the runtime's rounding does not
// matter.
func (b *builder) over(x, y num) num {
	return b.arith("Div", func(x, y int64) int64 { return x / y }, x, y)
}

// mod returns x modulo n > 0, which is never negative, like ONNX's Mod of
// integers.
func (b *builder) mod(x, n num) num {
	return b.arith("Mod", func(x, n int64) int64 { return (x%n + n) % n }, x, n)
}

func (b *builder) least(x, y num) num {
	return b.arith("Min", func(x, y int64) int64 { return min(x, y) }, x, y)
}

func (b *builder) most(x, y num) num {
	return b.arith("Max", func(x, y int64) int64 { return max(x, y) }, x, y)
}

// vector returns the numbers as one int64 vector.
func (b *builder) vector(l ...num) string {
	v := make([]int64, len(l))
	for i, n := range l {
		if n.name != "" {
			names := make([]string, len(l))
			for i, n := range l {
				names[i] = b.numName(n)
			}
			return b.op("Concat", []attr{{"axis", int64(0)}}, names...)
		}
		v[i] = n.v
	}
	return b.ints(v...)
}

// size returns the length of a value's axis.
func (b *builder) size(x value, axis int) num {
	if n := x.desc.Shape.At(axis); n != tensor.Unknown {
		return known(n)
	}
	return num{name: b.op("Gather", nil, b.op("Shape", nil, x.name), b.ints(int64(axis)))}
}

// value is a tensor of the graph under construction.
type value struct {
	name string
	desc tensor.Desc
}

// axes returns the axes of an image.
func axes(d tensor.Desc) (h, w, c int) {
	if d.Layout == tensor.CHW {
		return 1, 2, 0
	}
	return 0, 1, 2
}

// perChannel returns the shape of n values that broadcast over an image, one
// for all channels or one for each.
func perChannel(d tensor.Desc, n int) []int {
	switch {
	case n == 1:
		return nil
	case d.Layout == tensor.CHW:
		return []int{n, 1, 1}
	}
	return []int{n}
}
