package transforms

import (
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

// maxSide bounds every size, offset and border, in pixels: beyond it a float32
// does not count pixels, which several references do, and below it sums of a few
// never overflow an int32. Real images end at 1<<16.
const maxSide = 1 << 24

// wantImage refuses a description that is not an image's, that has an axis of
// size 0, or whose dtype is none of those named; no name means any of fixed size.
func wantImage(d tensor.Desc, dtypes ...tensor.DType) error {
	if err := d.Check(); err != nil {
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
		// The copy keeps the list of every call off the heap.
		return inputErr("%v, want dtype %v", d, slices.Clone(dtypes))
	}
	return nil
}

// wantChannels refuses an image whose number of channels is known and none of those given.
func wantChannels(d tensor.Desc, counts ...int) error {
	if c := d.Channels(); c != tensor.Unknown && !slices.Contains(counts, c) {
		return inputErr("%v, want %v channels", d, slices.Clone(counts))
	}
	return nil
}

// wantPerChannel refuses an image that n values of the named parameter do not
// fit: they are one for all channels or one for each.
func wantPerChannel(d tensor.Desc, name string, n int) error {
	if c := d.Channels(); n != 1 && c != tensor.Unknown && n != c {
		return inputErr("%v, but %s has %d values: want 1 or one for each channel", d, name, n)
	}
	return nil
}

// inferred refuses an output that cannot be, such as one with more elements than can be counted.
func inferred(d tensor.Desc) error {
	if err := d.Check(); err != nil {
		return inputErr("the output would be %v", err)
	}
	return nil
}

// checkSide refuses a size, in pixels, outside 1 .. maxSide.
func checkSide(name string, n int) error {
	if n < 1 || n > maxSide {
		return paramErr("%s is %d, want 1 to %d", name, n, maxSide)
	}
	return nil
}

// checkSides refuses an output size outside 1 .. maxSide.
func checkSides(height, width int) error {
	if err := checkSide("height", height); err != nil {
		return err
	}
	return checkSide("width", width)
}

// checkEnum refuses a value without a name.
func checkEnum[E interface {
	~uint8
	fmt.Stringer
}](name string, v E, names []string) error {
	if int(v) >= len(names) {
		return paramErr("%s is %v, want one of %q", name, v, names)
	}
	return nil
}

// checkLibrary wants one of the three backends that most ops have.
func checkLibrary(b Backend) error {
	if b > Torch {
		return paramErr("backend is %v, want pillow, opencv or torch", b)
	}
	return nil
}

// checkValues refuses a parameter without values, or with one that is not a
// finite number in float32, the type that pixels are computed in.
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

// checkDivisors is checkValues for what is divided by: 0 is refused, also one that is 0 in float32.
func checkDivisors(name string, values []float64) error {
	for i, v := range values {
		if float32(v) == 0 {
			return paramErr("%s[%d] is %v, which is 0 in float32: nothing can be divided by it", name, i, v)
		}
	}
	return checkValues(name, values)
}

// channelValue is value i of a parameter that has one value for all channels or one for each.
func channelValue[T any](values []T, i int) T {
	if len(values) == 1 {
		return values[0]
	}
	return values[i]
}
