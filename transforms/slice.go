package transforms

import (
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// Slice returns parts of a tensor along its axes, the first ones if there are
// fewer slices than axes. It takes any tensor of fixed-size elements, and keeps
// dtype, layout and the number of axes. No value changes.
//
// A slice is text in Python's notation. The form start:stop:step has the
// elements from start up to and without stop; each number is optional. A list
// of indices such as 0,2,-1 has these elements, in this order and as often as
// they are listed; one index keeps its axis. Negative numbers count from the
// end of the axis. A range is cut to the axis, and may be empty. An index
// outside the axis is an ErrInput. MindSpore's Ellipsis, None and True are ":".
//
// Reference: MindSpore 2.10.0, transforms.Slice; NumPy 2.4.6 for ranges without
// a stop or with only a step, which MindSpore refuses.
type Slice struct {
	Slices TextList `json:"slices"` // one for each axis, such as "1:3", "::-1", ":" or "0,2"; may be empty
}

//msgp:tuple Slice
//sheet:slice {"slices": [":", "::-2"]}

// NewSlice returns the op.
func NewSlice(slices ...string) *Slice { return &Slice{Slices: slices} }

// Info describes the op.
func (*Slice) Info() Info {
	return Info{
		Name: "slice", Version: 1, New: func() Op { return NewSlice() },
		Reference: "MindSpore 2.10.0 transforms.Slice, NumPy 2.4.6 indexing", Exactness: "0",
	}
}

// Validate checks the number and the form of the slices.
func (o *Slice) Validate() error {
	if len(o.Slices) > tensor.MaxRank {
		return paramErr("%d slices, want at most %d", len(o.Slices), tensor.MaxRank)
	}
	for i, s := range o.Slices {
		if _, ok := parseAxis(s); !ok {
			return paramErr(`slices[%d] is %q, want start:stop:step, or indices separated by commas`, i, s)
		}
	}
	return nil
}

// axisSlice is a parsed slice. The numbers that are absent are those of
// Python's None: step 1, and start and stop at the ends in its direction.
type axisSlice struct {
	indices           string // a list of indices; the other fields are then unused
	start, stop, step int
	hasStart, hasStop bool
}

// parseAxis parses a slice. It allocates only for an invalid one.
func parseAxis(s string) (a axisSlice, ok bool) {
	if !strings.Contains(s, ":") {
		a.indices = s
		for more := true; more; {
			if _, s, more, ok = nextIndex(s); !ok {
				return a, false
			}
		}
		return a, true
	}
	start, s, _ := strings.Cut(s, ":")
	stop, step, more := strings.Cut(s, ":")
	a.step = 1
	if a.hasStart = start != ""; a.hasStart {
		if a.start, ok = parseIndex(start); !ok {
			return a, false
		}
	}
	if a.hasStop = stop != ""; a.hasStop {
		if a.stop, ok = parseIndex(stop); !ok {
			return a, false
		}
	}
	if more && step != "" {
		if a.step, ok = parseIndex(step); !ok || a.step == 0 {
			return a, false
		}
	}
	return a, true
}

// parseIndex parses a number of 32 bits.
func parseIndex(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil && n > math.MinInt32 && s[0] != '+'
}

// nextIndex parses the first index of a list.
func nextIndex(s string) (i int, rest string, more, ok bool) {
	s, rest, more = strings.Cut(s, ",")
	i, ok = parseIndex(s)
	return i, rest, more, ok
}

// bounds returns the first index and the number of indices of a range, cut to
// an axis of n elements.
func (a axisSlice) bounds(n int) (first, count int) {
	lo, hi := 0, n // an index before the axis, and one after it
	if a.step < 0 {
		lo, hi = -1, n-1
	}
	cut := func(i int, given bool, absent int) int {
		switch {
		case !given:
			return absent
		case i < 0:
			return max(i+n, lo)
		}
		return min(i, hi)
	}
	length, step := 0, a.step
	if step > 0 {
		first = cut(a.start, a.hasStart, lo)
		length = cut(a.stop, a.hasStop, hi) - first
	} else {
		first = cut(a.start, a.hasStart, hi)
		length, step = first-cut(a.stop, a.hasStop, lo), -step
	}
	if length <= 0 {
		return first, 0
	}
	return first, (length-1)/step + 1
}

// count returns the number of indices for an axis of n elements, which may be
// Unknown.
func (a axisSlice) count(n int) (int, error) {
	if a.indices == "" {
		if n == tensor.Unknown {
			return n, nil
		}
		_, count := a.bounds(n)
		return count, nil
	}
	count := 0
	for s, more := a.indices, true; more; count++ {
		var i int
		i, s, more, _ = nextIndex(s)
		if n != tensor.Unknown && (i >= n || i < -n) {
			return 0, inputErr("an axis of %d has no index %d", n, i)
		}
	}
	return count, nil
}

// fill writes the indices for an axis of n elements.
func (a axisSlice) fill(indices []int64, n int) {
	if a.indices == "" {
		first, _ := a.bounds(n)
		for k := range indices {
			indices[k] = int64(first + k*a.step)
		}
		return
	}
	s := a.indices
	for k := range indices {
		var i int
		if i, s, _, _ = nextIndex(s); i < 0 {
			i += n
		}
		indices[k] = int64(i)
	}
}

// Infer computes the sizes.
func (o *Slice) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	if len(o.Slices) > d.Shape.Rank() {
		return inputErr("%v has fewer axes than the %d slices", d, len(o.Slices))
	}
	dst[0] = d
	for i, s := range o.Slices {
		a, _ := parseAxis(s)
		n, err := a.count(d.Shape.At(i))
		if err != nil {
			return err
		}
		dst[0].Shape = dst[0].Shape.With(i, n)
	}
	return inferred(dst[0])
}

// Apply copies the elements.
func (o *Slice) Apply(c *Context, dst, src []*tensor.Tensor) error {
	var at [tensor.MaxRank][]int64
	for i, s := range o.Slices {
		a, _ := parseAxis(s)
		at[i] = tensor.Cast[int64](c.Scratch(8 * dst[0].Shape.At(i)))
		a.fill(at[i], src[0].Shape.At(i))
	}
	gather(dst[0].Data, src[0], &at, len(o.Slices))
	return nil
}

// gather copies elements of src to dst in row-major order: those at the indices
// of the first n axes, and all of the other axes.
func gather(dst []byte, src *tensor.Tensor, at *[tensor.MaxRank][]int64, n int) {
	size, rank := src.DType.Size(), src.Shape.Rank()
	whole := size // bytes of src's last axes, which are contiguous
	last := rank
	for last > n && (src.Shape.At(last-1) == 1 || src.Strides[last-1]*size == whole) {
		last--
		whole *= src.Shape.At(last)
	}
	if len(dst) > 0 {
		gatherAxis(dst, src, at, n, 0, last, 0, whole)
	}
}

// gatherAxis copies from an axis on and returns the rest of dst. The axes from
// last on are block contiguous bytes.
func gatherAxis(dst []byte, src *tensor.Tensor, at *[tensor.MaxRank][]int64, n, axis, last, from, block int) []byte {
	size := src.DType.Size()
	if axis == last {
		return dst[copy(dst[:block], src.Data[from*size:]):]
	}
	if axis < n {
		if axis == last-1 { // such as the bands of an HWC image
			step := src.Strides[axis] * size
			for _, i := range at[axis] {
				dst = dst[copy(dst[:block], src.Data[from*size+int(i)*step:]):]
			}
			return dst
		}
		for _, i := range at[axis] {
			dst = gatherAxis(dst, src, at, n, axis+1, last, from+int(i)*src.Strides[axis], block)
		}
		return dst
	}
	for i := range src.Shape.At(axis) {
		dst = gatherAxis(dst, src, at, n, axis+1, last, from+i*src.Strides[axis], block)
	}
	return dst
}
