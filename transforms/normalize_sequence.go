//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// SequenceRule is the arithmetic of NormalizeSequence.
type SequenceRule uint8

// The rules.
const (
	// SequenceWhole takes the mean and the variance of all values: (x - mean) /
	// sqrt(var + 1e-7). Sums are NumPy's pairwise ones.
	SequenceWhole SequenceRule = iota
	// SequenceBins does so for each column, with n-1 as the divisor of the
	// variance.
	SequenceBins
	// SequenceCMVN subtracts the mean of each column, then divides by the
	// standard deviation of the differences, whose mean it computes anew. Sums
	// add row by row.
	SequenceCMVN
	// SequenceFeatures divides x - mean of each column by its deviation, with
	// n-1 as the divisor, plus 1e-5. Sums are torch's on processors with AVX2.
	SequenceFeatures
)

var sequenceRuleNames = []string{"whole", "bins", "cmvn", "features"}

func (r SequenceRule) String() string { return enum.String("sequence rule", sequenceRuleNames, r) }

// MarshalText returns the name.
func (r SequenceRule) MarshalText() ([]byte, error) {
	return enum.Format("sequence rule", sequenceRuleNames, r)
}

// UnmarshalText parses the name.
func (r *SequenceRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "sequence rule", sequenceRuleNames, t)
}

// NormalizeSequence gives the values of a sequence a mean of 0 and a variance
// of 1, by its rule. It takes float32 without a layout: rows of samples for
// whole, a matrix of rows and columns for the other rules, of two columns or
// more for cmvn. It keeps the description.
//
// All arithmetic is float32, except that sums are divided in float64 for whole
// and bins. The variance of a constant column is 0, so cmvn
// divides 0 by 0 there, and the result is NaN, as is that of bins and features
// for a single row.
//
// Reference: transformers 5.23.0: zero_mean_unit_var_norm of
// Wav2Vec2FeatureExtractor (whole), SeamlessM4TFeatureExtractor (bins),
// utterance_cmvn of Speech2TextFeatureExtractor (cmvn); NumPy 2.4.6. The rule
// features is that of ParakeetFeatureExtractor with torch 2.15.0, whose sums
// have another order on processors with AVX-512, and for some columns of few
// rows: values of 6 and of 9 rows differ by up to 2.4e-7.
type NormalizeSequence struct {
	Rule SequenceRule `json:"rule"` // default whole
	Mean bool         `json:"mean"` // subtract the mean; always true but for cmvn
	Var  bool         `json:"var"`  // divide by the deviation; always true but for cmvn
}

//msgp:tuple NormalizeSequence

// NewNormalizeSequence returns the op with the rule whole.
func NewNormalizeSequence() *NormalizeSequence { return &NormalizeSequence{Mean: true, Var: true} }

// Info describes the op.
func (*NormalizeSequence) Info() Info {
	return Info{
		Name: "normalize_sequence", Version: 1, New: func() Op { return NewNormalizeSequence() },
		In: soundColumn, Out: soundColumn,
		Reference: "transformers 5.23.0 Wav2Vec2FeatureExtractor, SeamlessM4TFeatureExtractor, Speech2TextFeatureExtractor", Exactness: "0",
	}
}

// Validate checks the rule and its switches.
func (o *NormalizeSequence) Validate() error {
	if err := checkEnum("rule", o.Rule, sequenceRuleNames); err != nil {
		return err
	}
	if o.Rule != SequenceCMVN && !(o.Mean && o.Var) {
		return paramErr("mean is %v and var %v, want true for rule %v", o.Mean, o.Var, o.Rule)
	}
	return nil
}

// Infer keeps the description.
func (o *NormalizeSequence) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() == 0 || o.Rule != SequenceWhole && d.Shape.Rank() != 2 {
		return inputErr("%v, want float32 without a layout: rows, or rows and columns for rules of columns", d)
	}
	if o.Rule == SequenceCMVN && d.Shape.At(1) == 1 { // NumPy adds a single column pairwise
		return inputErr("%v, want two columns or more for rule cmvn", d)
	}
	dst[0] = d
	return nil
}

// Apply normalizes.
func (o *NormalizeSequence) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	if len(in) == 0 {
		return nil
	}
	switch o.Rule {
	case SequenceWhole:
		normalize32(out, in, out, 0)
	case SequenceBins:
		rows, columns := s.Shape.At(0), s.Shape.At(1)
		column := tensor.Cast[float32](c.Scratch(8 * rows))
		for j := range columns {
			x, y := column[:rows], column[rows:2*rows]
			for i := range x {
				x[i] = in[i*columns+j]
			}
			normalize32(y, x, y, 1)
			for i, v := range y {
				out[i*columns+j] = v
			}
		}
	case SequenceFeatures:
		rows, columns := s.Shape.At(0), s.Shape.At(1)
		work := tensor.Cast[float32](c.Scratch(4 * (2*rows + 1)))
		column := work[:rows]
		for j := range columns {
			for i := range column {
				column[i] = in[i*columns+j]
			}
			normalizeFeatures(column, work[rows:])
			for i, v := range column {
				out[i*columns+j] = v
			}
		}
	default:
		copy(out, in)
		o.cmvn(out, s.Shape.At(0), s.Shape.At(1), tensor.Cast[float32](c.Scratch(8*s.Shape.At(1))))
	}
	return nil
}

// normalize32 writes (x - mean) / sqrt(var + 1e-7) of the values of in. work
// may be out. The divisor of the variance is the number of values minus less.
func normalize32(out, in, work []float32, less int) {
	n := float64(len(in))
	mean := float32(float64(dsp.PairwiseSum(in)) / n)
	for i, x := range in {
		d := x - mean
		work[i] = float32(d * d)
	}
	std := float32(math.Sqrt(float64(float32(float64(dsp.PairwiseSum(work))/(n-float64(less))) + 1e-7)))
	kernel.NormalizeF32(out, in, []float32{mean}, []float32{std})
}

// cmvn normalizes x in place. work has two numbers for each column.
func (o *NormalizeSequence) cmvn(x []float32, rows, columns int, work []float32) {
	n := float32(rows)
	mean, sum := work[:columns], work[columns:2*columns]
	means := func() {
		copy(mean, x[:columns])
		for i := columns; i < len(x); i += columns {
			for j, v := range x[i : i+columns] {
				mean[j] += v
			}
		}
		for j := range mean {
			mean[j] /= n
		}
	}
	if o.Mean {
		means()
		for i := 0; i < len(x); i += columns {
			for j := range mean {
				x[i+j] -= mean[j]
			}
		}
	}
	if !o.Var {
		return
	}
	means()
	clear(sum)
	for i := 0; i < len(x); i += columns {
		for j, m := range mean {
			d := x[i+j] - m
			sum[j] += float32(d * d)
		}
	}
	for j, v := range sum {
		sum[j] = float32(math.Sqrt(float64(v / n)))
	}
	for i := 0; i < len(x); i += columns {
		for j, std := range sum {
			x[i+j] /= std
		}
	}
}

// normalizeFeatures writes the rule features for a column. work has one number
// more than the column: torch adds the frame behind it, which counts as 0.
func normalizeFeatures(column, work []float32) {
	n := float32(len(column))
	work[len(column)] = 0
	copy(work, column)
	mean := dsp.TorchSum(work) / n
	for i, x := range column {
		d := x - mean
		work[i] = float32(d * d)
	}
	std := float32(math.Sqrt(float64(dsp.TorchSum(work)/(n-1)))) + 1e-5
	for i, x := range column {
		column[i] = (x - mean) / std
	}
}
