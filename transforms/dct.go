//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// DCT computes cepstral coefficients: the first coefficients of the discrete
// cosine transform (type 2) of each frame, such as the MFCCs of logarithmic mel
// filter banks. It takes a float32 matrix of frames and bands, without a
// layout, and returns one of frames and coefficients; both have the frames
// second without FramesFirst.
//
// Coefficient k of N bands x is the sum of x[j] cos(pi k (j + 1/2) / N), times
// sqrt(2/N), or sqrt(1/N) for k = 0. Without Ortho it is twice the sum. With a
// Lifter q it is then multiplied by 1 + q/2 sin(pi (k + LifterFrom) / q). Sums
// are float64, from the first band on, and rounded to float32 once.
//
// With Energy the first value of a frame is no band: it replaces coefficient 0.
// With HTK coefficient 0 is the last one, times sqrt(2) unless it is an energy.
// The band energies of Fbank with EnergyFirst have this form.
//
// Reference: torchaudio 2.11.0 compliance.kaldi.mfcc, kaldi-native-fbank 1.23.0
// and SciPy 1.16.3's dct, for librosa 0.11.0 (LifterFrom 1) and torchaudio's
// MFCC.
type DCT struct {
	Coefficients int     `json:"coefficients"` // 1 to the number of bands; default 13
	Ortho        bool    `json:"ortho"`        // default true
	Lifter       float64 `json:"lifter"`       // 1 to 1e6, or 0 for none; default 0
	LifterFrom   int     `json:"lifter_from"`  // 0 for Kaldi, 1 for librosa; default 0
	Energy       bool    `json:"energy"`       // default false
	HTK          bool    `json:"htk"`          // default false
	FramesFirst  bool    `json:"frames_first"` // default true
}

//msgp:tuple DCT
//sheet:dct {"coefficients": 3}

// NewDCT returns the op for orthonormal coefficients of frames in rows.
func NewDCT(coefficients int) *DCT {
	return &DCT{Coefficients: coefficients, Ortho: true, FramesFirst: true}
}

// Info describes the op.
func (*DCT) Info() Info {
	return Info{
		Name: "dct", Version: 1, New: func() Op { return NewDCT(13) },
		In: soundColumn, Out: soundColumn,
		Reference: "SciPy 1.16.3 fft.dct; torchaudio 2.11.0 compliance.kaldi.mfcc, kaldi-native-fbank 1.23.0",
		Exactness: "0 for SciPy in float64, rounded to float32; see docs/exactness.md",
	}
}

// maxLifter is the largest lifter.
const maxLifter = 1e6

// Validate checks the parameters.
func (o *DCT) Validate() error {
	if o.Coefficients < 1 || o.Coefficients > maxMels {
		return paramErr("coefficients is %d, want 1 to %d", o.Coefficients, maxMels)
	}
	if o.LifterFrom < 0 || o.LifterFrom > 1 {
		return paramErr("lifter_from is %d, want 0 or 1", o.LifterFrom)
	}
	if o.Lifter != 0 {
		return checkBounds("lifter", o.Lifter, 1, maxLifter)
	}
	return nil
}

// Infer describes frames and coefficients.
func (o *DCT) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() != 2 {
		return inputErr("%v, want float32 (frames, bands)", d)
	}
	frames, bands := d.Shape.At(0), d.Shape.At(1)
	if !o.FramesFirst {
		frames, bands = bands, frames
	}
	if bands != tensor.Unknown {
		if o.Energy {
			bands--
		}
		if bands < o.Coefficients || bands > maxMels {
			return inputErr("%v has %d bands, want %d, the number of coefficients, to %d", d, bands, o.Coefficients, maxMels)
		}
	}
	shape := tensor.Dims(frames, o.Coefficients)
	if !o.FramesFirst {
		shape = tensor.Dims(o.Coefficients, frames)
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: shape}
	return inferred(dst[0])
}

// dctState is the matrix of the parameters that it was made for.
type dctState struct {
	op     DCT
	bands  int
	matrix []float64 // a row of bands for each coefficient
}

func (o *DCT) state(c *Context, bands int) *dctState {
	if st, ok := c.State.(*dctState); ok && st.op == *o && st.bands == bands {
		return st
	}
	st := &dctState{*o, bands, make([]float64, o.Coefficients*bands)}
	c.State = st
	for k := range o.Coefficients {
		scale := 2.0
		switch {
		case o.Ortho && k == 0:
			scale = math.Sqrt(1 / float64(bands))
		case o.Ortho:
			scale = math.Sqrt(2 / float64(bands))
		}
		if o.HTK && k == 0 {
			scale = float64(scale * math.Sqrt2)
		}
		if o.Lifter > 0 {
			sin, _ := exactmath.SinCos(float64(math.Pi*float64(k+o.LifterFrom)) / o.Lifter)
			scale = float64(scale * (1 + float64(o.Lifter/2*sin)))
		}
		for j := range bands {
			// The angle is pi/(2 bands) times a whole number below 4 bands.
			_, cos := exactmath.SinCos(float64(math.Pi*float64(k*(2*j+1)%(4*bands))) / float64(2*bands))
			st.matrix[k*bands+j] = float64(scale * cos)
		}
	}
	return st
}

// Apply computes the coefficients.
func (o *DCT) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	frames, rows := s.Shape.At(0), s.Shape.At(1)
	if !o.FramesFirst {
		frames, rows = rows, frames
	}
	if frames == 0 {
		return nil
	}
	skip := 0
	if o.Energy {
		skip = 1
	}
	bands := rows - skip
	st := o.state(c, bands)
	frame := tensor.Cast[float64](c.Scratch(8 * bands))[:bands]
	// at returns the place of value i of n of frame f.
	at := func(f, i, n int) int {
		if o.FramesFirst {
			return f*n + i
		}
		return i*frames + f
	}
	for f := range frames {
		for j := range frame {
			frame[j] = float64(in[at(f, j+skip, rows)])
		}
		for k := range o.Coefficients {
			var sum float64
			for j, w := range st.matrix[k*bands:][:bands] {
				sum += float64(w * frame[j])
			}
			v := float32(sum)
			if o.Energy && k == 0 {
				v = in[at(f, 0, rows)]
			}
			to := k
			if o.HTK {
				to = (k + o.Coefficients - 1) % o.Coefficients
			}
			out[at(f, to, o.Coefficients)] = v
		}
	}
	return nil
}
