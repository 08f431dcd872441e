//go:build !small

package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// FitMode says what FitSequence adds at the end of a sequence.
type FitMode uint8

// The modes.
const (
	FitFill      FitMode = iota // rows of Fill
	FitReflect                  // the rows in reverse order, without the last one: NumPy's pad of mode reflect
	FitRepeat                   // the sequence again and again, cut at the end
	FitRepeatPad                // the sequence as often as it fits as a whole, then rows of Fill
)

var fitModeNames = []string{"fill", "reflect", "repeat", "repeat_pad"}

func (m FitMode) String() string { return enum.String("fit mode", fitModeNames, m) }

// MarshalText returns the name.
func (m FitMode) MarshalText() ([]byte, error) { return enum.Format("fit mode", fitModeNames, m) }

// UnmarshalText parses the name.
func (m *FitMode) UnmarshalText(t []byte) error {
	return enum.Parse(m, "fit mode", fitModeNames, t)
}

// FitSequence cuts or pads a sequence at its end to a number of rows, and
// reports which rows are from the input. A sequence is a tensor without a
// layout, such as samples of sound; its first axis counts the rows. It takes
// any dtype of fixed size and keeps it. A fill that the dtype cannot hold is an
// ErrInput.
//
// The number of rows follows from that of the input, n, in this order:
//
//   - Longer sequences than Max are cut, or refused as an ErrInput without Cut.
//   - Length is the least number of rows. A sequence longer than it, after Max,
//     keeps its rows.
//   - With Stride, the least number is (ceil(n/Stride)-1)*Stride + Chunk too.
//   - Multiple rounds the number up.
//   - Left and Right add rows of Fill at both ends.
//
// AtStart adds the rows of Fill for Length, Stride and Multiple before the
// sequence.
//
// Outputs: image, the sequence; mask, int32 with a number for each row: 0 for
// rows of Fill, 1 for others. Copies of rows count as others. A mode that
// copies rows refuses an empty sequence that it must pad, as an ErrInput.
//
// Reference: transformers 5.23.0, SequenceFeatureExtractor.pad, and the padding
// of its feature extractors: Encodec (Stride), Kyutai's (Left and Right), PE
// audio (reflect), CLAP (repeat and repeat_pad).
type FitSequence struct {
	Max      int     `json:"max"`      // rows that are kept, 1 to 2^24; 0 for all
	Cut      bool    `json:"cut"`      // cut longer sequences than Max; default true
	Length   int     `json:"length"`   // least number of rows, 0 to 2^24
	Chunk    int     `json:"chunk"`    // rows of the last chunk, Stride to 2^24; 0 without Stride
	Stride   int     `json:"stride"`   // rows between chunks, 1 to 2^24; 0 for none
	Multiple int     `json:"multiple"` // 1 to 2^24; default 1
	Left     int     `json:"left"`     // rows before the sequence, 0 to 2^24
	Right    int     `json:"right"`    // rows after all others, 0 to 2^24
	Mode     FitMode `json:"mode"`     // default fill
	AtStart  bool    `json:"at_start"` // pad before the sequence, for mode fill; default false
	Fill     float64 `json:"fill"`     // default 0
}

//msgp:tuple FitSequence

// NewFitSequence returns the op that cuts and pads to length rows, with a fill
// of 0.
func NewFitSequence(length int) *FitSequence {
	return &FitSequence{Max: length, Cut: true, Length: length, Multiple: 1}
}

// Info describes the op.
func (*FitSequence) Info() Info {
	return Info{
		Name: "fit_sequence", Version: 1, New: func() Op { return NewFitSequence(480000) },
		In: soundColumn, Out: []string{"sound", "mask"},
		Reference: "transformers 5.23.0 SequenceFeatureExtractor.pad", Exactness: "0",
	}
}

// Validate checks the numbers of rows, the mode and the fill.
func (o *FitSequence) Validate() error {
	for _, n := range []struct {
		name       string
		value, low int
	}{
		{"max", o.Max, 0}, {"length", o.Length, 0}, {"chunk", o.Chunk, 0}, {"stride", o.Stride, 0},
		{"multiple", o.Multiple, 1}, {"left", o.Left, 0}, {"right", o.Right, 0},
	} {
		if n.value < n.low || n.value > maxSide {
			return paramErr("%s is %d, want %d to %d", n.name, n.value, n.low, maxSide)
		}
	}
	switch {
	case o.Stride == 0 && o.Chunk != 0:
		return paramErr("chunk is %d without a stride, want 0", o.Chunk)
	case o.Stride > o.Chunk:
		return paramErr("chunk is %d, want at least the stride, %d", o.Chunk, o.Stride)
	case o.Max > 0 && o.Length > o.Max:
		return paramErr("length is %d, want at most max, %d", o.Length, o.Max)
	case o.AtStart && o.Mode != FitFill:
		return paramErr("at_start is true with mode %v, want mode fill", o.Mode)
	}
	if err := checkEnum("mode", o.Mode, fitModeNames); err != nil {
		return err
	}
	return checkValues("fill", []float64{o.Fill})
}

// rows returns how many of n rows are kept, and how many there are before Left
// and Right.
func (o *FitSequence) rows(n int) (kept, all int) {
	if o.Max > 0 {
		n = min(n, o.Max)
	}
	all = max(n, o.Length)
	if o.Stride > 0 {
		all = max(all, (ceilDiv(n, o.Stride)-1)*o.Stride+o.Chunk)
	}
	return n, ceilDiv(all, o.Multiple) * o.Multiple
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// Infer sets the number of rows.
func (o *FitSequence) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSequence(d, o.Fill); err != nil {
		return err
	}
	n := d.Shape.At(0)
	if n != tensor.Unknown {
		if n > maxSequence {
			return inputErr("%v, want at most %d rows", d, maxSequence)
		}
		if !o.Cut && o.Max > 0 && n > o.Max {
			return inputErr("%v, want at most %d rows", d, o.Max)
		}
		kept, all := o.rows(n)
		if kept == 0 && all > 0 && o.Mode != FitFill {
			return inputErr("%v has no rows, want one or more for mode %v", d, o.Mode)
		}
		n = o.Left + all + o.Right
	} else if o.Length > 0 && o.Length == o.Max && o.Stride == 0 {
		_, all := o.rows(o.Length)
		n = o.Left + all + o.Right
	}
	dst[0] = d
	dst[0].Shape = d.Shape.With(0, n)
	dst[1] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(n)}
	if err := inferred(dst[1]); err != nil {
		return err
	}
	return inferred(dst[0])
}

// maxSequence is the largest number of rows of a sequence that grows: some
// three hours of sound at 48 kHz.
const maxSequence = 1 << 29

// Apply copies the rows.
func (o *FitSequence) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	kept, all := o.rows(s.Shape.At(0))
	size := s.DType.Size() // bytes of a row
	for i := 1; i < s.Shape.Rank(); i++ {
		size *= s.Shape.At(i)
	}
	fill := c.Scratch(s.DType.Size())
	putNumber(fill, s.DType, o.Fill)
	out, mask := dst[0].Data, tensor.View[int32](dst[1])
	pad := func(n int) {
		if n*size > 0 {
			kernel.RepeatPixel(out[:n*size], fill)
		}
		out = out[n*size:]
		clear(mask[:n])
		mask = mask[n:]
	}
	keep := func(n int) {
		for i := range mask[:n] {
			mask[i] = 1
		}
		mask = mask[n:]
	}
	added := all - kept
	pad(o.Left)
	if o.AtStart {
		pad(added)
		added = 0
	}
	in := s.Data[:kept*size]
	out = out[copy(out, in):]
	keep(kept)
	switch o.Mode {
	case FitReflect:
		for i := range added {
			at := kernel.Reflect101(kept+i, kept) * size
			out = out[copy(out, in[at:at+size]):]
		}
		keep(added)
		added = 0
	case FitRepeat, FitRepeatPad:
		n := added
		if o.Mode == FitRepeatPad {
			n -= added % max(1, kept)
		}
		for left := n * size; left > 0; {
			k := copy(out[:left], in)
			out, left = out[k:], left-k
		}
		keep(n)
		added -= n
	}
	pad(added + o.Right)
	return nil
}
