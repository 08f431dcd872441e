// Package golden compares tensors with the digests that golden files hold in
// place of a reference's arrays. testdata/gen writes them.
package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// Digest stands for an array of a reference.
type Digest struct {
	DType  string `json:"dtype,omitempty"`
	Shape  []int  `json:"shape,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of its little-endian bytes
	// Values are samples for people, who see what a failing test got instead.
	// Of n samples the i-th is element i*len/(n+1). Some files round them to
	// six digits.
	Values []float64 `json:"values,omitempty"`
}

// Diff returns "" if t has the digest's type, shape and bytes, else what
// differs.
func (d *Digest) Diff(t *tensor.Tensor) string {
	shape := make([]int, t.Shape.Rank())
	for i := range shape {
		shape[i] = t.Shape.At(i)
	}
	if d.DType != t.DType.String() || !slices.Equal(d.Shape, shape) {
		return fmt.Sprintf("got %v %v, want %v %v", t.DType, shape, d.DType, d.Shape)
	}
	h := sha256.New()
	if err := tensor.WriteRaw(h, t); err != nil {
		return err.Error()
	}
	if hex.EncodeToString(h.Sum(nil)) == d.SHA256 {
		return ""
	}
	var b strings.Builder
	count := 0
	for i, want := range d.Values {
		at := i * int(t.Len()) / (len(d.Values) + 1)
		got := Number(t, at)
		if got == want || strconv.FormatFloat(got, 'g', 6, 64) == strconv.FormatFloat(want, 'g', 6, 64) && rounded(want) {
			continue
		}
		count++
		fmt.Fprintf(&b, "\n  at %v: got %v, want %v", Index(t.Shape, at), got, want)
	}
	return fmt.Sprintf("%v %v: other bytes than the reference's; %d of %d sampled values differ%s", t.DType, shape, count, len(d.Values), b.String())
}

// rounded reports whether v has at most six digits.
func rounded(v float64) bool {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return err == nil && r == v
}

// Index returns the indices of element i of a tensor of shape s.
func Index(s tensor.Shape, i int) []int {
	at := make([]int, s.Rank())
	for a := s.Rank() - 1; a >= 0; a-- {
		at[a] = i % s.At(a)
		i /= s.At(a)
	}
	return at
}

// Number returns element i of t, or NaN if its type is not one of Go.
func Number(t *tensor.Tensor, i int) float64 {
	switch t.DType {
	case tensor.Uint8, tensor.Bool:
		return float64(t.Data[i])
	case tensor.Int8:
		return float64(tensor.View[int8](t)[i])
	case tensor.Uint16:
		return float64(tensor.View[uint16](t)[i])
	case tensor.Int16:
		return float64(tensor.View[int16](t)[i])
	case tensor.Int32:
		return float64(tensor.View[int32](t)[i])
	case tensor.Int64:
		return float64(tensor.View[int64](t)[i])
	case tensor.Float32:
		return float64(tensor.View[float32](t)[i])
	case tensor.Float64:
		return tensor.View[float64](t)[i]
	}
	return math.NaN()
}
