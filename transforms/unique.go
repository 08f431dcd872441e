package transforms

import (
	"math"
	"math/bits"

	"github.com/infer-prep/infer-prep/tensor"
)

// Unique returns the different elements of a tensor, in the order in which they
// first occur. It takes any tensor of at most 2^24 elements of fixed size, and
// reads it in row-major order.
//
// Outputs, all vectors: image, the different elements, of the input's dtype;
// index, int32, each element's place in image; counts, int32, how often each
// element of image occurs.
//
// A NaN is different from every other element. The zeros 0 and -0 of float32
// and float64 are equal, those of float16 and bfloat16 are not.
//
// Reference: MindSpore 2.10.0, transforms.Unique. It refuses bool and tensors
// with fewer than two axes.
type Unique struct{}

//msgp:tuple Unique

// NewUnique returns the op.
func NewUnique() *Unique { return &Unique{} }

// Info describes the op.
func (*Unique) Info() Info {
	return Info{
		Name: "unique", Version: 1, New: func() Op { return NewUnique() },
		Out:       []string{"image", "index", "counts"},
		Reference: "MindSpore 2.10.0 transforms.Unique", Exactness: "0",
	}
}

// Validate returns nil: there are no parameters.
func (o *Unique) Validate() error { return nil }

// Infer leaves the number of different elements Unknown.
func (o *Unique) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	n := d.Len()
	if n > maxSide {
		return inputErr("%v has %d elements, want at most %d", d, n, maxSide)
	}
	o.describe(dst, d.DType, tensor.Unknown, int(n))
	return nil
}

// describe describes the outputs for n elements, of which some are different.
func (o *Unique) describe(dst []tensor.Desc, d tensor.DType, different, n int) {
	dst[0] = tensor.Desc{DType: d, Shape: tensor.Dims(different)}
	dst[1] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(n)}
	dst[2] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(different)}
}

// InferData counts the different elements.
func (o *Unique) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	n := int(s.Len())
	first := distinct(c, s, tensor.Cast[int32](c.Scratch(4*n)))
	o.describe(dst, s.DType, len(first), n)
	return nil
}

// Apply writes the vectors.
func (o *Unique) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	index, counts, size := tensor.View[int32](dst[1]), tensor.View[int32](dst[2]), s.DType.Size()
	for k, i := range distinct(c, s, index) {
		copy(dst[0].Data[k*size:], s.Data[int(i)*size:][:size])
	}
	clear(counts)
	for _, k := range index {
		counts[k]++
	}
	return nil
}

// distinct sets index to each element's place among the different elements, and
// returns where these first occur. The result is scratch memory.
func distinct(c *Context, s *tensor.Tensor, index []int32) []int32 {
	n := len(index)
	keys, first := tensor.Cast[int64](c.Scratch(8*n)), tensor.Cast[int32](c.Scratch(4 * n))[:0]
	sign, inf := elementKeys(keys, s)
	// An open hash table of places, which are stored plus one. At most half of
	// it is used.
	shift := 64 - bits.Len(uint(2*n+1))
	table := tensor.Cast[int32](c.Scratch(4 << (64 - shift)))
	clear(table)
	for i, key := range keys {
		if uint64(key)&^sign > inf {
			index[i] = int32(len(first))
			first = append(first, int32(i))
			continue
		}
		// Fibonacci hashing: a multiplication by 2^64 divided by the golden
		// ratio.
		at := uint64(key) * 0x9E3779B97F4A7C15 >> shift
		for table[at] != 0 && keys[first[table[at]-1]] != key {
			at = (at + 1) & uint64(len(table)-1)
		}
		if table[at] == 0 {
			first = append(first, int32(i))
			table[at] = int32(len(first))
		}
		index[i] = table[at] - 1
	}
	return first
}

// elementKeys writes numbers that are the same for equal elements. The number
// of NaN, without the bit sign, is greater than inf.
func elementKeys(keys []int64, s *tensor.Tensor) (sign, inf uint64) {
	switch s.DType.Size() {
	case 1:
		for i, v := range s.Data[:len(keys)] {
			keys[i] = int64(v)
		}
	case 2:
		for i, v := range tensor.View[uint16](s)[:len(keys)] {
			keys[i] = int64(v)
		}
	case 4:
		for i, v := range tensor.View[int32](s)[:len(keys)] {
			keys[i] = int64(uint32(v))
		}
	case 8:
		copy(keys, tensor.View[int64](s))
	}
	switch s.DType {
	case tensor.Float16:
		return 1 << 15, 0x7C00
	case tensor.BFloat16:
		return 1 << 15, 0x7F80
	case tensor.Float32:
		sign, inf = 1<<31, 0x7F800000
	case tensor.Float64:
		sign, inf = 1<<63, 0x7FF<<52
	default:
		return 0, math.MaxUint64
	}
	for i, k := range keys {
		if uint64(k) == sign { // -0
			keys[i] = 0
		}
	}
	return sign, inf
}
