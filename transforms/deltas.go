//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Deltas computes differences of features over time, up to Order. It takes a
// float32 matrix of frames and bands, without a layout, and returns the
// features and their differences side by side: (frames, bands * (Order+1)), or
// (bands * (Order+1), frames) without FramesFirst. Without Append it returns
// the differences of the last order alone.
//
// The first difference at frame t is the sum of j * x[t+j] for j of -Window to
// Window, divided by the sum of j*j. The next order has the differences of the
// one before. Frames beyond the ends are those at the ends, for all orders as
// for the first. Sums are float64, from the earliest frame on, and rounded to
// float32 once. The references add in float32, so that their values depend on
// the processor; the difference is about one unit in the last place of the
// largest feature.
//
// Reference: Kaldi 5.5 add-deltas (DeltaFeatures); torchaudio 2.11.0
// functional.compute_deltas with a win_length of 2*Window + 1.
type Deltas struct {
	Window      int  `json:"window"`       // 1 to 100; default 2
	Order       int  `json:"order"`        // 1 to 4; default 2
	Append      bool `json:"append"`       // default true
	FramesFirst bool `json:"frames_first"` // default true
}

//msgp:tuple Deltas

// NewDeltas returns the op with Kaldi's defaults.
func NewDeltas() *Deltas { return &Deltas{Window: 2, Order: 2, Append: true, FramesFirst: true} }

// Info describes the op.
func (*Deltas) Info() Info {
	return Info{
		Name: "deltas", Version: 1, New: func() Op { return NewDeltas() },
		In: soundColumn, Out: soundColumn,
		Reference: "torchaudio 2.11.0 functional.compute_deltas; Kaldi 5.5 add-deltas",
		Exactness: "1e-6 of the largest feature, because the references' sums in float32 depend on the processor",
	}
}

// The largest parameters of Deltas.
const (
	maxDeltaWindow = 100
	maxDeltaOrder  = 4
)

// Validate checks the parameters.
func (o *Deltas) Validate() error {
	if o.Window < 1 || o.Window > maxDeltaWindow {
		return paramErr("window is %d, want 1 to %d", o.Window, maxDeltaWindow)
	}
	if o.Order < 1 || o.Order > maxDeltaOrder {
		return paramErr("order is %d, want 1 to %d", o.Order, maxDeltaOrder)
	}
	return nil
}

// parts returns the number of orders in the result.
func (o *Deltas) parts() int {
	if o.Append {
		return o.Order + 1
	}
	return 1
}

// Infer describes the differences.
func (o *Deltas) Infer(dst, in []tensor.Desc) error {
	if err := inferMatrix(dst, in); err != nil {
		return err
	}
	axis := 0
	if o.FramesFirst {
		axis = 1
	}
	n := in[0].Shape.At(axis)
	if n == tensor.Unknown || !o.Append {
		return nil
	}
	if n > maxSequence {
		return inputErr("%v, want at most %d bands", in[0], maxSequence)
	}
	shape := [2]int{in[0].Shape.At(0), in[0].Shape.At(1)}
	shape[axis] = n * o.parts()
	dst[0].Shape = tensor.Dims(shape[:]...)
	return inferred(dst[0])
}

// scales returns the factors of the frames around one, by the order.
func (o *Deltas) scales() [][]float64 {
	sum := 0
	for j := 1; j <= o.Window; j++ {
		sum += 2 * j * j
	}
	all := [][]float64{{1}}
	for range o.Order {
		last := all[len(all)-1]
		next := make([]float64, len(last)+2*o.Window)
		for j := -o.Window; j <= o.Window; j++ {
			for k, s := range last {
				next[j+k+o.Window] += float64(float64(j) * s)
			}
		}
		for i := range next {
			next[i] /= float64(sum)
		}
		all = append(all, next)
	}
	return all
}

// deltasState keeps an op and the factors that were computed for it.
type deltasState struct {
	op     Deltas
	scales [][]float64
}

// Apply computes the differences.
func (o *Deltas) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	st, ok := c.State.(*deltasState)
	if !ok || st.op != *o {
		st = &deltasState{*o, o.scales()}
		c.State = st
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	frames, bands := s.Shape.At(0), s.Shape.At(1)
	if !o.FramesFirst {
		frames, bands = bands, frames
	}
	rows := bands * o.parts()
	for i, scales := range st.scales[o.Order+1-o.parts():] {
		offset := len(scales) / 2
		for t := range frames {
			for b := range bands {
				var sum float64
				for j, w := range scales {
					f := min(max(t+j-offset, 0), frames-1)
					at := f*bands + b
					if !o.FramesFirst {
						at = b*frames + f
					}
					sum += float64(w * float64(in[at]))
				}
				to := t*rows + i*bands + b
				if !o.FramesFirst {
					to = (i*bands+b)*frames + t
				}
				out[to] = float32(sum)
			}
		}
	}
	return nil
}
