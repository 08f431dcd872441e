package tensor

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// MaxRank is the largest number of axes of a tensor.
const MaxRank = 8

// Unknown is the size of an axis that is not known before the data is seen,
// such as the height of an image that has not been decoded.
const Unknown = -1

// Shape is the size of every axis. It is a comparable value: assigning it
// copies it, == compares it, and the zero Shape is a scalar's.
type Shape struct {
	rank int8
	dim  [MaxRank]int
}

// Dims makes a Shape of the given sizes, outermost axis first. It panics when
// there are more than MaxRank; sizes are checked by [Desc.Validate].
func Dims(d ...int) Shape {
	if len(d) > MaxRank {
		panic("tensor: a shape has at most 8 axes")
	}
	var s Shape
	s.rank = int8(len(d))
	copy(s.dim[:], d)
	return s
}

// Rank is the number of axes.
func (s Shape) Rank() int { return int(s.rank) }

// At is the size of axis i, 0 <= i < Rank.
func (s Shape) At(i int) int { return s.dim[:s.rank][i] }

// With is s with axis i set to n.
func (s Shape) With(i, n int) Shape {
	s.dim[:s.rank][i] = n
	return s
}

// Append is s with one more innermost axis.
func (s Shape) Append(n int) Shape {
	s.dim[s.rank] = n
	s.rank++
	return s
}

// Slice is the sizes as a new slice.
func (s Shape) Slice() []int { return append([]int{}, s.dim[:s.rank]...) }

// Known reports whether every axis has a known size.
func (s Shape) Known() bool {
	for i := range s.Rank() {
		if s.dim[i] < 0 {
			return false
		}
	}
	return true
}

// Len is the number of elements, 1 for a scalar, -1 when an axis is unknown or
// the product overflows an int64's non-negative range.
func (s Shape) Len() int64 {
	n := int64(1)
	zero := false
	for i := range s.Rank() {
		d := int64(s.dim[i])
		switch {
		case d < 0:
			return -1
		case d == 0:
			zero = true
		case n > math.MaxInt64/d:
			return -1
		default:
			n *= d
		}
	}
	if zero {
		return 0
	}
	return n
}

// String writes the shape as NumPy does, with ? for an unknown axis: (3, ?, 224).
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
			fmt.Fprint(&b, s.dim[i])
		}
	}
	if s.Rank() == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}

// MarshalJSON writes the sizes as an array, -1 for an unknown axis.
func (s Shape) MarshalJSON() ([]byte, error) { return json.Marshal(s.Slice()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Shape) UnmarshalJSON(b []byte) error {
	var d []int
	if err := json.Unmarshal(b, &d); err != nil {
		return err
	}
	if len(d) > MaxRank {
		return fmt.Errorf("tensor: shape has %d axes, want at most %d", len(d), MaxRank)
	}
	for _, n := range d {
		if n < Unknown {
			return fmt.Errorf("tensor: shape %v has a size below -1", d)
		}
	}
	*s = Dims(d...)
	return nil
}
