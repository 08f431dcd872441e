package device

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Report is the result of Verify.
type Report struct {
	Device  string         `json:"device"`
	Claimed Class          `json:"claimed"`  // the class of the placement
	Class   Class          `json:"measured"` // the worst of all samples and outputs; Unsupported without a session
	Outputs []OutputReport `json:"outputs"`
}

// OutputReport compares one output of one golden sample.
type OutputReport struct {
	Golden string      `json:"golden"`
	Output string      `json:"output"`
	Desc   tensor.Desc `json:"desc"`
	Class  Class       `json:"class"`
	// Differ is the number of elements, of Of, whose bits differ.
	Differ int64 `json:"differ"`
	Of     int64 `json:"of"`
	// Largest is the largest difference. It is NaN if a difference is not
	// finite.
	Largest float64 `json:"largest"`
	// Bound is the largest difference of a Within1 output, -1 if unknown.
	Bound float64 `json:"bound"`
	// First is the index of the first element that differs, -1 if none does.
	// Got and Want are its values.
	First int64   `json:"first"`
	Got   float64 `json:"got"`
	Want  float64 `json:"want"`
}

// MarshalJSON returns the report with null for numbers that are not finite.
func (o OutputReport) MarshalJSON() ([]byte, error) {
	type plain OutputReport
	finite := func(f float64) *float64 {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
		return &f
	}
	return json.Marshal(struct {
		plain
		Largest *float64 `json:"largest"`
		Got     *float64 `json:"got"`
		Want    *float64 `json:"want"`
	}{plain(o), finite(o.Largest), finite(o.Got), finite(o.Want)})
}

// Place returns the index of the first element that differs along every axis,
// such as "(2, 17, 40)", or "" if none differs.
func (o OutputReport) Place() string {
	if o.First < 0 {
		return ""
	}
	l := make([]string, o.Desc.Shape.Rank())
	at := o.First
	for i := len(l) - 1; i >= 0; i-- {
		n := int64(o.Desc.Shape.At(i))
		l[i] = fmt.Sprint(at % n)
		at /= n
	}
	return "(" + strings.Join(l, ", ") + ")"
}

func (o OutputReport) String() string {
	s := fmt.Sprintf("%s: %s %v: %v", o.Golden, o.Output, o.Desc, o.Class)
	if o.Differ > 0 {
		s += fmt.Sprintf(": %d of %d differ, by %v at most; at %s: got %v want %v", o.Differ, o.Of, o.Largest, o.Place(), o.Got, o.Want)
	}
	return s
}

// Verify compares a device with the reference on golden samples. First it
// compares the host's outputs with the digests of every sample; a mismatch is
// ErrDiffers. Then it runs the graph on the device for every sample, and
// compares all outputs and side outputs with the host's.
//
// Verify returns the report even with an error. ErrDiffers reports a tensor
// that is worse than the device's placement claims, or that has another
// description. ErrClass reports a measured class worse than least. A measured
// class may be better than the claimed one; it holds for these samples only.
//
// An output is Exact if its bits are equal. A uint8 output is Within1 if it
// differs by at most 1. Another output is Within1 under two conditions. Only
// pointwise ops, crops, flips and paddings follow the last uint8 image. No
// difference exceeds the effect of a step of 1 in that image. Any other output
// is Approximate.
//
// The graph must have one encoded image as its input, which the samples
// provide.
func Verify(ctx context.Context, dev Device, plan *datagraph.Plan, goldens []modelbundle.Golden, least Class) (*Report, error) {
	r := &Report{Device: dev.Name()}
	g := plan.Graph()
	if len(goldens) == 0 {
		return r, errors.New("device: verify: no golden samples: want at least one")
	}
	if err := g.WantImage(); err != nil {
		return r, fmt.Errorf("device: verify: %w", err)
	}
	session, err := dev.Open(plan, Options{})
	if err != nil {
		return r, err
	}
	defer session.Close()
	r.Claimed, r.Class = session.Placement().Least(), Exact
	runner := plan.NewRunner()
	columns := plan.Outputs()
	bounds := make([]float64, len(columns))
	for i, c := range columns {
		bounds[i] = within1(plan, c.Name)
	}
	for _, golden := range goldens {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		in := tensor.FromBytes(golden.Input)
		want, err := runner.Run(in)
		if err != nil {
			return r, fmt.Errorf("device: golden %s on the host: %w", golden.Name, err)
		}
		if err := proveHost(golden, columns, want); err != nil {
			return r, err
		}
		got, err := session.Preprocess(ctx, in)
		if err != nil {
			return r, fmt.Errorf("device: golden %s: %w", golden.Name, err)
		}
		if len(got) != len(want) {
			return r, fmt.Errorf("device: %w: golden %s: %s returned %d outputs, expected %d", ErrDiffers, golden.Name, dev.Name(), len(got), len(want))
		}
		for i, c := range columns {
			if got[i].Desc != want[i].Desc {
				return r, fmt.Errorf("device: %w: golden %s: output %s is %v on %s, expected %v", ErrDiffers, golden.Name, c.Name, got[i].Desc, dev.Name(), want[i].Desc)
			}
			o := compare(got[i], want[i], bounds[i])
			o.Golden, o.Output = golden.Name, c.Name
			r.Class = min(r.Class, o.Class)
			r.Outputs = append(r.Outputs, o)
		}
	}
	switch {
	case r.Class < r.Claimed:
		return r, fmt.Errorf("device: %w: %s claims %v: %s", ErrDiffers, dev.Name(), r.Claimed, r.worst())
	case r.Class < least:
		return r, fmt.Errorf("device: %w: want %v: %s", ErrClass, least, r.worst())
	}
	return r, nil
}

// worst describes the first of the worst outputs and counts the others.
func (r *Report) worst() string {
	var first string
	n := 0
	for _, o := range r.Outputs {
		if o.Class == r.Class {
			if n++; n == 1 {
				first = o.String()
			}
		}
	}
	if n > 1 {
		first += fmt.Sprintf(" (and %d more outputs)", n-1)
	}
	return first
}

// proveHost compares the host's outputs with the digests of a sample.
func proveHost(golden modelbundle.Golden, columns []datagraph.Column, got []*tensor.Tensor) error {
	err := golden.Compare(columns, got)
	var m *modelbundle.MismatchError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &m):
		return fmt.Errorf("device: on the host: %w", err)
	case m.Got != m.Want:
		return fmt.Errorf("device: %w: golden %s: output %s is %v on the host, expected %v", ErrDiffers, golden.Name, m.Output, m.Got, m.Want)
	}
	where := ""
	if m.At >= 0 {
		where = fmt.Sprintf("; at %s: got %v want %v", OutputReport{Desc: m.Want, First: m.At}.Place(), m.GotValue, m.WantValue)
	}
	return fmt.Errorf("device: %w: golden %s: output %s of the host does not match its digest%s", ErrDiffers, golden.Name, m.Output, where)
}

// compare compares two tensors with equal descriptions.
func compare(got, want *tensor.Tensor, bound float64) OutputReport {
	o := OutputReport{Desc: want.Desc, Class: Exact, Of: want.Len(), First: -1, Bound: bound}
	if want.DType == tensor.Bytes {
		o.Of = 1
		if !bytes.Equal(got.Data, want.Data) {
			o.Differ, o.First, o.Class, o.Largest = 1, 0, Approximate, math.NaN()
		}
		return o
	}
	if !got.Dense() {
		got = got.Clone()
	}
	if !want.Dense() {
		want = want.Clone()
	}
	size, gotAt, wantAt := want.DType.Size(), tensor.Float64s(got), tensor.Float64s(want)
	for i := range o.Of {
		at := int(i) * size
		if bytes.Equal(got.Data[at:at+size], want.Data[at:at+size]) {
			continue
		}
		g, w := gotAt(int(i)), wantAt(int(i))
		if o.Differ++; o.Differ == 1 {
			o.First, o.Got, o.Want = i, g, w
		}
		d := math.Abs(g - w)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			o.Largest = math.NaN()
		}
		if !math.IsNaN(o.Largest) {
			o.Largest = max(o.Largest, d)
		}
	}
	switch {
	case o.Differ == 0:
	case bound >= 0 && o.Largest <= bound: // false for NaN
		o.Class = Within1
	default:
		o.Class = Approximate
	}
	return o
}

// within1 returns the largest difference that an output can have if every
// element of the last uint8 image before it differs by at most 1. It runs the
// pointwise ops after that image on all 256 values of every channel, and skips
// ops that only move elements. It returns -1 if other ops follow, or if there
// is no such image.
func within1(plan *datagraph.Plan, output string) float64 {
	g := plan.Graph()
	descs, err := g.Infer()
	if err != nil {
		return -1
	}
	var ops []transforms.Op // last first
	var from tensor.Desc
	column := output
	for i, s := range slices.Backward(g.Steps) {
		j := slices.Index(s.Out, column)
		if j < 0 {
			continue
		}
		if d := descs[i][j]; d.DType == tensor.Uint8 {
			from = d
			break
		}
		_, pointwise := s.Op.(transforms.Pointwise)
		_, framed := s.Op.(transforms.Framed)
		if !pointwise && !framed {
			return -1
		}
		if pointwise {
			ops = append(ops, s.Op)
		}
		column = s.In[0]
	}
	switch {
	case from.DType != tensor.Uint8:
		return -1
	case len(ops) == 0:
		return 1
	case !from.IsImage() || from.Channels() < 1:
		return -1
	}
	c := from.Channels()
	tail := datagraph.New()
	tail.Inputs[0].Desc = tensor.Image(tensor.Uint8, from.Layout, 1, 256, c)
	for _, op := range slices.Backward(ops) {
		tail.Then(op, []string{datagraph.Image}, []string{datagraph.Image})
	}
	p, err := datagraph.Compile(tail, datagraph.CompileOptions{Limits: plan.Limits()})
	if err != nil {
		return -1
	}
	levels, err := tensor.New(tail.Inputs[0].Desc)
	if err != nil {
		return -1
	}
	for v := range 256 {
		for k := range c {
			if from.Layout == tensor.CHW {
				levels.Data[k*256+v] = byte(v)
			} else {
				levels.Data[v*c+k] = byte(v)
			}
		}
	}
	out, err := p.NewRunner().Run(levels)
	if err != nil {
		return -1
	}
	t := out[0]
	number := tensor.Float64s(t)
	at := func(v, k int) float64 {
		if t.Layout == tensor.CHW {
			return number(k*256 + v)
		}
		return number(v*c + k)
	}
	bound := 0.0
	for k := range c {
		for v := 1; v < 256; v++ {
			d := math.Abs(at(v, k) - at(v-1, k))
			if math.IsNaN(d) || math.IsInf(d, 0) {
				return -1
			}
			bound = max(bound, d)
		}
	}
	return bound
}
