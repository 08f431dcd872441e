package datagraph

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/msgpack"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The msgp form consists of tuples only, so that a reader cannot skip anything
// unseen:
//
//	[Version, reference, [[name, dtype, layout, [size…]]…],
//	 [[op, version, [in…], [out…], params, [moves…]]…], [output…],
//	 [side output…], [[column, batch rule, value]…],
//	 [[column, image, role, format, clamping]…]]
//
// The moves of a step are absent if they are empty, and so is the list of
// roles. The list of batch rules is absent if it and the roles are empty.

// maxText is the largest length of a string other than a column name.
const maxText = 1024

// MarshalMsg appends the graph's msgp form to b. An op that is not registered
// is an error that names the op.
func (g *Graph) MarshalMsg(b []byte) ([]byte, error) {
	n := 6
	if len(g.Batch) > 0 || len(g.Roles) > 0 {
		n++
	}
	if len(g.Roles) > 0 {
		n++
	}
	b = msgpack.AppendArray(b, n)
	b = msgpack.AppendInt(b, Version)
	b = msgpack.AppendString(b, g.Reference)
	b = msgpack.AppendArray(b, len(g.Inputs))
	for _, c := range g.Inputs {
		b = msgpack.AppendArray(b, 4)
		b = msgpack.AppendString(b, c.Name)
		b = msgpack.AppendUint(b, uint8(c.Desc.DType))
		b = msgpack.AppendUint(b, uint8(c.Desc.Layout))
		b = msgpack.AppendArray(b, c.Desc.Shape.Rank())
		for i := range c.Desc.Shape.Rank() {
			b = msgpack.AppendInt(b, c.Desc.Shape.At(i))
		}
	}
	b = msgpack.AppendArray(b, len(g.Steps))
	for i, s := range g.Steps {
		info := transforms.InfoOf(s.Op)
		fields := 5
		if len(s.Moves) > 0 {
			fields++
		}
		b = msgpack.AppendArray(b, fields)
		b = msgpack.AppendString(b, info.Name)
		b = msgpack.AppendInt(b, info.Version)
		b = appendStrings(b, s.In)
		b = appendStrings(b, s.Out)
		var err error
		if b, err = transforms.AppendParams(b, s.Op); err != nil {
			return nil, g.stepErr(i, err)
		}
		if len(s.Moves) > 0 {
			b = appendStrings(b, s.Moves)
		}
	}
	b = appendStrings(b, g.Outputs)
	b = appendStrings(b, g.SideOutputs)
	if len(g.Batch) > 0 || len(g.Roles) > 0 {
		b = msgpack.AppendArray(b, len(g.Batch))
	}
	for _, c := range g.Batch {
		b = msgpack.AppendArray(b, 3)
		b = msgpack.AppendString(b, c.Column)
		b = msgpack.AppendUint(b, uint8(c.Rule))
		b = msgpack.AppendFloat64(b, c.Value)
	}
	if len(g.Roles) > 0 {
		b = msgpack.AppendArray(b, len(g.Roles))
	}
	for _, r := range g.Roles {
		b = msgpack.AppendArray(b, 5)
		b = msgpack.AppendString(b, r.Column)
		b = msgpack.AppendString(b, r.Image)
		b = msgpack.AppendUint(b, uint8(r.Kind))
		b = msgpack.AppendUint(b, uint8(r.Format))
		b = msgpack.AppendUint(b, uint8(r.Clamping))
	}
	return b, nil
}

func appendStrings(b []byte, l []string) []byte {
	b = msgpack.AppendArray(b, len(l))
	for _, s := range l {
		b = msgpack.AppendString(b, s)
	}
	return b
}

// UnmarshalMsg reads a graph, validates it, and returns the rest of b. Unknown
// ops and unknown versions are errors that name them.
func (g *Graph) UnmarshalMsg(b []byte) ([]byte, error) {
	r := reader{msgpack.Reader{B: b}}
	length := r.Count(8)
	if r.Err == nil && length < 6 {
		r.Fail("tuple of %d, want 6 to 8", length)
	}
	if v := r.Int(); r.Err == nil && v != Version {
		return nil, errfmt.Errorf("datagraph: %w", graphErr("version %d, this build reads %d", v, Version))
	}
	n := Graph{Reference: r.Text(maxText)}
	for range r.Count(maxColumns) {
		r.Tuple(4)
		c := Column{Name: r.Text(maxName)}
		c.Desc.DType, c.Desc.Layout = tensor.DType(r.Uint8()), tensor.Layout(r.Uint8())
		for range r.Count(tensor.MaxRank) {
			c.Desc.Shape = c.Desc.Shape.Append(r.Int())
		}
		n.Inputs = append(n.Inputs, c)
	}
	for i := range r.Count(maxSteps) {
		fields := r.Count(6)
		if r.Err == nil && fields < 5 {
			r.Fail("tuple of %d, want 5 or 6", fields)
		}
		name, version := r.Text(maxName), r.Int()
		s := Step{In: r.strings(), Out: r.strings()}
		if r.Err != nil {
			break
		}
		var err error
		if s.Op, r.B, err = transforms.ReadParams(name, version, r.B); err != nil {
			return nil, &StepError{i, name, err}
		}
		if fields == 6 {
			s.Moves = r.moves()
		}
		n.Steps = append(n.Steps, s)
	}
	n.Outputs, n.SideOutputs = r.strings(), r.strings()
	if length >= 7 {
		count := r.Count(maxColumns)
		if r.Err == nil && count == 0 && length == 7 {
			r.Fail("an empty list of batch rules, want none")
		}
		for range count {
			r.Tuple(3)
			c := BatchColumn{Column: r.Text(maxName)}
			c.Rule, c.Value = BatchRule(r.Uint8()), msgpack.Read(&r.Reader, msgpack.ReadFloat64)
			n.Batch = append(n.Batch, c)
		}
	}
	if length == 8 {
		n.Roles = r.roles()
	}
	if r.Err != nil {
		return nil, errfmt.Errorf("datagraph: %w: offset %d: %w", ErrGraph, len(b)-len(r.B), r.Err)
	}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	*g = n
	return r.B, nil
}

type reader struct{ msgpack.Reader }

func (r *reader) strings() (l []string) {
	for range r.Count(maxColumns) {
		l = append(l, r.Text(maxName))
	}
	return l
}
