package transforms

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxSide bounds every size, offset and border, in pixels. Up to it a float32,
// which several references use, represents every integer, and sums of a few
// values fit an int32. Real images have at most 1<<16 pixels per side.
const maxSide = 1 << 24

// wantImage rejects a description that is not an image's, has an axis of size
// 0, or has a dtype other than dtypes. Without dtypes it accepts every dtype of
// fixed size.
func wantImage(d tensor.Desc, dtypes ...tensor.DType) error {
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if !d.IsImage() {
		return inputErr("%v, want an image (layout HWC or CHW)", d)
	}
	for i := range 3 {
		if d.Shape.At(i) == 0 {
			return inputErr("%v has no pixels", d)
		}
	}
	if len(dtypes) > 0 && !slices.Contains(dtypes, d.DType) {
		return inputErr("%v, want dtype %v", d, errfmt.Strings(dtypes))
	}
	return nil
}

// wantSized rejects an invalid description and the dtype bytes.
func wantSized(d tensor.Desc) error {
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType.Size() == 0 {
		return inputErr("%v, want a dtype of fixed size", d)
	}
	return nil
}

// wantChannels rejects an image with a known number of channels that is not in
// counts.
func wantChannels(d tensor.Desc, counts ...int) error {
	if c := d.Channels(); c != tensor.Unknown && !slices.Contains(counts, c) {
		return inputErr("%v, want %v channels", d, slices.Clone(counts))
	}
	return nil
}

// wantPerChannel rejects an image whose channels do not match a parameter of n
// values: one for all channels or one for each.
func wantPerChannel(d tensor.Desc, name string, n int) error {
	if c := d.Channels(); n != 1 && c != tensor.Unknown && n != c {
		return inputErr("%v, but %s has %d values: want 1 or one for each channel", d, name, n)
	}
	return nil
}

// inferred rejects an invalid output, such as one with too many elements to
// count.
func inferred(d tensor.Desc) error {
	if err := d.Validate(); err != nil {
		return inputErr("the output is invalid: %v", err)
	}
	return nil
}

// checkSide rejects a size outside 1..maxSide pixels.
//
//go:noinline
func checkSide(name string, n int) error {
	if n < 1 || n > maxSide {
		return paramErr("%s is %d, want 1 to %d", name, n, maxSide)
	}
	return nil
}

// checkSides rejects an output size outside 1..maxSide pixels.
func checkSides(height, width int) error {
	if err := checkSide("height", height); err != nil {
		return err
	}
	return checkSide("width", width)
}

// checkEnum rejects a value that has no name.
//
//go:noinline
func checkEnum[E interface {
	~uint8
	String() string
}](name string, v E, names []string) error {
	if int(v) >= len(names) {
		return paramErr("%s is %v, want one of %q", name, v, names)
	}
	return nil
}

// checkLibrary accepts the three backends that most ops support.
func checkLibrary(b Backend) error {
	if b > Torch {
		return paramErr("backend is %v, want pillow, opencv or torch", b)
	}
	return nil
}

// checkElement rejects types without a fixed size.
func checkElement(name string, d tensor.DType) error {
	if d.Size() == 0 {
		return paramErr("%s is %v, want one of fixed size", name, d)
	}
	return nil
}

// checkValues rejects an empty parameter and values that are not finite in
// float32, the type that pixels are computed in.
func checkValues(name string, values []float64) error {
	if len(values) == 0 {
		return paramErr("%s has no values, want 1 or one for each channel", name)
	}
	for i, v := range values {
		if f := float64(float32(v)); math.IsNaN(f) || math.IsInf(f, 0) {
			return paramErr("%s[%d] is %v, want a finite number in the range of float32", name, i, v)
		}
	}
	return nil
}

// checkDivisors is checkValues for divisors: it also rejects values that are 0
// in float32.
func checkDivisors(name string, values []float64) error {
	for i, v := range values {
		if float32(v) == 0 {
			return paramErr("%s[%d] is %v, want a number that is not 0 in float32", name, i, v)
		}
	}
	return checkValues(name, values)
}

// channelValue returns value i of a parameter with one value for all channels
// or one for each.
func channelValue[T any](values []T, i int) T {
	if len(values) == 1 {
		return values[0]
	}
	return values[i]
}

// checkBounds wants a number within bounds.
func checkBounds(name string, v, lo, hi float64) error {
	if !(v >= lo && v <= hi) {
		return paramErr("%s is %v, want %v to %v", name, v, lo, hi)
	}
	return nil
}

// checkFinite rejects infinities and NaN.
func checkFinite(name string, values ...float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return paramErr("%s[%d] is %v, want a finite number", name, i, v)
		}
	}
	return nil
}
