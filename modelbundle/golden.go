package modelbundle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// keptElements is the number of elements that a golden sample keeps of an
// output, evenly spaced from the first to the last. Eight locate most errors
// and are small beside the digest.
const keptElements = 8

// MakeGolden runs a graph on an encoded image, on the CPU, and returns the
// sample with the outputs and side outputs. The graph must have one encoded
// input.
func MakeGolden(g *datagraph.Graph, name string, input []byte, limits codec.Limits) (Golden, error) {
	s := Golden{Name: name, Input: input}
	plan, err := goldenPlan(g, name, limits)
	if err != nil {
		return s, err
	}
	out, err := plan.NewRunner().Run(tensor.FromBytes(input))
	if err != nil {
		return s, fmt.Errorf("modelbundle: golden sample %q: %w", name, err)
	}
	for i, c := range plan.Outputs() {
		e, err := newExpected(c.Name, out[i])
		if err != nil {
			return s, err
		}
		s.Outputs = append(s.Outputs, e)
	}
	return s, nil
}

// GoldenOf returns a sample with tensors that training computed, named like the
// graph's outputs and side outputs; some may be missing. They must have the
// graph's dtypes and shapes. A leading axis of 1 is dropped, and a missing
// layout is taken from the graph. GoldenOf does not run the graph;
// Bundle.Verify compares.
func GoldenOf(g *datagraph.Graph, name string, input []byte, outputs []tensor.Named) (Golden, error) {
	s := Golden{Name: name, Input: input}
	plan, err := goldenPlan(g, name, codec.NoLimits())
	if err != nil {
		return s, err
	}
	used := 0
	for _, c := range plan.Outputs() {
		for _, o := range outputs {
			if o.Name != c.Name {
				continue
			}
			t, err := unbatched(o.T, c.Desc)
			if err != nil {
				return s, content("golden sample %q: output %q: %w", name, c.Name, err)
			}
			e, err := newExpected(c.Name, t)
			if err != nil {
				return s, err
			}
			used++
			s.Outputs = append(s.Outputs, e)
		}
	}
	if used != len(outputs) || used == 0 {
		return s, content("golden sample %q: %d tensors, %d of them outputs of the graph", name, len(outputs), used)
	}
	return s, nil
}

// unbatched returns a view of t that matches want.
func unbatched(t *tensor.Tensor, want tensor.Desc) (*tensor.Tensor, error) {
	v := *t
	if n := t.Shape.Rank(); n == want.Shape.Rank()+1 && n > 1 && t.Shape.At(0) == 1 {
		v.Shape, v.Strides = tensor.Dims(t.Shape.Slice()[1:]...), [tensor.MaxRank]int{}
		copy(v.Strides[:], t.Strides[1:])
	}
	if v.Layout == tensor.NoLayout && v.Shape.Rank() == want.Shape.Rank() {
		v.Layout = want.Layout
	}
	if !want.Matches(v.Desc) {
		return nil, fmt.Errorf("%v, want %v", t.Desc, want)
	}
	return &v, nil
}

// goldenPlan compiles a graph for golden samples.
func goldenPlan(g *datagraph.Graph, name string, limits codec.Limits) (*datagraph.Plan, error) {
	if len(g.Inputs) != 1 || g.Inputs[0].Desc != tensor.Encoded() {
		return nil, content("golden sample %q: the graph has inputs %v, want one encoded input", name, g.Inputs)
	}
	if err := checkGraph(g); err != nil {
		return nil, content("golden sample %q: %w", name, err)
	}
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: limits})
	if err != nil {
		return nil, fmt.Errorf("modelbundle: golden sample %q: %w", name, err)
	}
	return plan, nil
}

// newExpected returns the digest and some elements of an output.
func newExpected(name string, t *tensor.Tensor) (Expected, error) {
	e := Expected{Name: name, Desc: t.Desc}
	var err error
	if e.SHA256, err = tensorDigest(t); err != nil || t.DType == tensor.Bytes {
		return e, err
	}
	n, value := t.Len(), tensor.Float64s(t)
	for i := range min(n, keptElements) {
		at := i
		if n > keptElements {
			at = i * (n - 1) / (keptElements - 1) // cannot overflow for any tensor in memory
		}
		e.Values = append(e.Values, Element{at, value(int(at))})
	}
	return e, nil
}

// tensorDigest returns the SHA-256 of a tensor's elements in row-major order,
// little-endian.
func tensorDigest(t *tensor.Tensor) (d [sha256.Size]byte, err error) {
	h := sha256.New()
	err = tensor.WriteRaw(h, t)
	h.Sum(d[:0])
	return d, err
}

// MismatchError reports an output of a golden sample that differs from the
// expected one. It matches ErrGolden.
type MismatchError struct {
	Golden, Output string
	Want, Got      tensor.Desc
	// At is the index in row-major order of the first kept element that
	// differs, -1 if none of them does.
	At                  int64
	WantValue, GotValue float64 // the values of that element
}

func (e *MismatchError) Error() string {
	s := fmt.Sprintf("modelbundle: golden sample %q: output %q ", e.Golden, e.Output)
	switch {
	case e.Want != e.Got:
		return s + fmt.Sprintf("is %v, want %v", e.Got, e.Want)
	case e.At < 0:
		return s + "differs in an element that the bundle does not keep"
	}
	return s + fmt.Sprintf("at %v: got %v, want %v", position(e.Want.Shape, e.At), e.GotValue, e.WantValue)
}

// Is reports whether target is ErrGolden.
func (e *MismatchError) Is(target error) bool { return target == ErrGolden }

// position converts an index in row-major order to an index along each axis.
func position(s tensor.Shape, at int64) tensor.Shape {
	p := s
	for i := s.Rank() - 1; i >= 0; i-- {
		n := int64(max(s.At(i), 1))
		p = p.With(i, int(at%n))
		at /= n
	}
	return p
}

// Compare compares the outputs of a run with those of the golden sample.
// columns are the columns of out, from Plan.Outputs. The error joins a
// *MismatchError for each output that differs.
func (g *Golden) Compare(columns []datagraph.Column, out []*tensor.Tensor) error {
	var errs []error
	for i := range g.Outputs {
		e := &g.Outputs[i]
		k := slices.IndexFunc(columns, func(c datagraph.Column) bool { return c.Name == e.Name })
		if k < 0 || k >= len(out) {
			errs = append(errs, fmt.Errorf("modelbundle: golden sample %q: %w: the run has no output %q", g.Name, ErrGolden, e.Name))
			continue
		}
		m, err := e.compare(out[k])
		if m != nil {
			m.Golden = g.Name
			err = m
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// compare returns nil if t has the expected digest.
func (e *Expected) compare(t *tensor.Tensor) (*MismatchError, error) {
	m := &MismatchError{Output: e.Name, Want: e.Desc, Got: t.Desc, At: -1}
	if e.Desc != t.Desc {
		return m, nil
	}
	d, err := tensorDigest(t)
	if err != nil || d == e.SHA256 {
		return nil, err
	}
	value := tensor.Float64s(t)
	for _, v := range e.Values {
		if value == nil || v.At < 0 || v.At >= t.Len() {
			continue
		}
		if got := value(int(v.At)); math.Float64bits(got) != math.Float64bits(v.Value) {
			m.At, m.WantValue, m.GotValue = v.At, v.Value, got
			break
		}
	}
	return m, nil
}
