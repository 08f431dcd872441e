package tensor

import (
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// MaxRank is the largest number of axes of a tensor.
const MaxRank = 8

// Unknown is the size of an axis that depends on the data, such as the height
// of an image before it is decoded.
const Unknown = -1

// Shape holds the size of every axis. It is a comparable value: assignment
// copies it and == compares it. The zero Shape is a scalar's.
type Shape struct {
	rank int8
	dim  [MaxRank]int
}

// Dims returns a Shape with the given sizes, outermost axis first. It panics if
// there are more than MaxRank. It accepts any size; [Desc.Validate] checks
// them.
func Dims(d ...int) Shape {
	if len(d) > MaxRank {
		panic("tensor: a shape has at most 8 axes")
	}
	var s Shape
	s.rank = int8(len(d))
	copy(s.dim[:], d)
	return s
}

// Rank returns the number of axes.
func (s Shape) Rank() int { return int(s.rank) }

// At returns the size of axis i, 0 <= i < Rank.
func (s Shape) At(i int) int { return s.dim[:s.rank][i] }

// With returns s with the size of axis i set to n.
func (s Shape) With(i, n int) Shape {
	s.dim[:s.rank][i] = n
	return s
}

// Append returns s with one more innermost axis of size n.
func (s Shape) Append(n int) Shape {
	s.dim[s.rank] = n
	s.rank++
	return s
}

// Slice returns the sizes in a new slice.
func (s Shape) Slice() []int { return append([]int{}, s.dim[:s.rank]...) }

// Known reports whether every axis has a known size.
func (s Shape) Known() bool { return s.least() >= 0 }

// least returns the smallest size, 0 for a scalar.
func (s *Shape) least() int {
	n := 0
	for _, d := range s.dim[:s.rank] {
		n = min(n, d)
	}
	return n
}

// Len returns the number of elements: 1 for a scalar, -1 if an axis is unknown
// or the product overflows an int64.
func (s Shape) Len() int64 { return s.len() }

// len is Len without a copy of s. Multiplication is faster than division.
func (s *Shape) len() int64 {
	n, zero := uint64(1), false
	for _, d := range s.dim[:s.rank] {
		if d < 0 {
			return -1
		}
		if d == 0 {
			zero = true
			continue
		}
		high, low := bits.Mul64(n, uint64(d))
		if high != 0 || low > math.MaxInt64 {
			return -1
		}
		n = low
	}
	if zero {
		return 0
	}
	return int64(n)
}

// String returns the shape in NumPy's form, with ? for an unknown axis:
// (3, ?, 224).
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range s.Rank() {
		if i > 0 {
			b.WriteString(", ")
		}
		if s.dim[i] == Unknown {
			b.WriteByte('?')
		} else {
			b.WriteString(strconv.Itoa(s.dim[i]))
		}
	}
	if s.Rank() == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}

// MarshalJSON returns the sizes as an array, -1 for an unknown axis.
func (s Shape) MarshalJSON() ([]byte, error) { return json.Marshal(s.Slice()) }

// UnmarshalJSON parses an array of sizes; see MarshalJSON.
func (s *Shape) UnmarshalJSON(b []byte) error {
	var d []int
	if err := json.Unmarshal(b, &d); err != nil {
		return err
	}
	if len(d) > MaxRank {
		return errfmt.Errorf("tensor: shape: %d axes, want at most %d", len(d), MaxRank)
	}
	for _, n := range d {
		if n < Unknown {
			return errfmt.Errorf("tensor: shape %v: want sizes of -1 or more", d)
		}
	}
	*s = Dims(d...)
	return nil
}
