package datagraph

import (
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The msgp form is tuples throughout, so that nothing is skipped unseen:
//
//	[Version, reference, [[name, dtype, layout, [size…]]…], [[op, version, [in…], [out…], params]…], [output…], [side output…]]

// maxText bounds the strings of a graph other than column names.
const maxText = 1024

// MarshalMsg appends the graph's msgp form to b. An op that is not registered is refused by name.
func (g *Graph) MarshalMsg(b []byte) ([]byte, error) {
	b = msgp.AppendArrayHeader(b, 6)
	b = msgp.AppendInt(b, Version)
	b = msgp.AppendString(b, g.Reference)
	b = msgp.AppendArrayHeader(b, uint32(len(g.Inputs)))
	for _, c := range g.Inputs {
		b = msgp.AppendArrayHeader(b, 4)
		b = msgp.AppendString(b, c.Name)
		b = msgp.AppendUint8(b, uint8(c.Desc.DType))
		b = msgp.AppendUint8(b, uint8(c.Desc.Layout))
		b = msgp.AppendArrayHeader(b, uint32(c.Desc.Shape.Rank()))
		for i := range c.Desc.Shape.Rank() {
			b = msgp.AppendInt(b, c.Desc.Shape.At(i))
		}
	}
	b = msgp.AppendArrayHeader(b, uint32(len(g.Steps)))
	for i, s := range g.Steps {
		info := transforms.InfoOf(s.Op)
		b = msgp.AppendArrayHeader(b, 5)
		b = msgp.AppendString(b, info.Name)
		b = msgp.AppendInt(b, info.Version)
		b = appendStrings(b, s.In)
		b = appendStrings(b, s.Out)
		var err error
		if b, err = transforms.AppendParams(b, s.Op); err != nil {
			return nil, g.stepErr(i, err)
		}
	}
	b = appendStrings(b, g.Outputs)
	return appendStrings(b, g.SideOutputs), nil
}

func appendStrings(b []byte, l []string) []byte {
	b = msgp.AppendArrayHeader(b, uint32(len(l)))
	for _, s := range l {
		b = msgp.AppendString(b, s)
	}
	return b
}

// UnmarshalMsg reads a graph, validates it, and returns the rest of b. Unknown
// ops and versions other than this build's are refused by name.
func (g *Graph) UnmarshalMsg(b []byte) ([]byte, error) {
	r := reader{b: b}
	r.tuple(6)
	if v := r.int(); r.err == nil && v != Version {
		return nil, fmt.Errorf("datagraph: %w", graphErr("version %d, this build reads %d", v, Version))
	}
	n := Graph{Reference: r.text(maxText)}
	for range r.count(maxColumns) {
		r.tuple(4)
		c := Column{Name: r.text(maxName)}
		c.Desc.DType, c.Desc.Layout = tensor.DType(r.uint8()), tensor.Layout(r.uint8())
		for range r.count(tensor.MaxRank) {
			c.Desc.Shape = c.Desc.Shape.Append(r.int())
		}
		n.Inputs = append(n.Inputs, c)
	}
	for i := range r.count(maxSteps) {
		r.tuple(5)
		name, version := r.text(maxName), r.int()
		s := Step{In: r.strings(), Out: r.strings()}
		if r.err != nil {
			break
		}
		var err error
		if s.Op, r.b, err = transforms.ReadParams(name, version, r.b); err != nil {
			return nil, &StepError{i, name, err}
		}
		n.Steps = append(n.Steps, s)
	}
	n.Outputs, n.SideOutputs = r.strings(), r.strings()
	if r.err != nil {
		return nil, fmt.Errorf("datagraph: %w: offset %d: %w", ErrGraph, len(b)-len(r.b), r.err)
	}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	*g = n
	return r.b, nil
}

// reader reads msgp values one after another and keeps the first error.
type reader struct {
	b   []byte
	err error
}

func read[T any](r *reader, f func([]byte) (T, []byte, error)) (v T) {
	if r.err == nil {
		v, r.b, r.err = f(r.b)
	}
	return v
}

func (r *reader) int() int     { return read(r, msgp.ReadIntBytes) }
func (r *reader) uint8() uint8 { return read(r, msgp.ReadUint8Bytes) }

// text reads a string of at most limit bytes. No copy is made before the
// length is known to be there: msgp checks it against the input.
func (r *reader) text(limit int) string {
	s := read(r, msgp.ReadStringZC)
	if len(s) > limit && r.err == nil {
		r.err = fmt.Errorf("text of %d bytes, want at most %d", len(s), limit)
	}
	return string(s)
}

// count reads an array's length, 0 after an error.
func (r *reader) count(limit int) int {
	n := read(r, msgp.ReadArrayHeaderBytes)
	if int64(n) > int64(limit) && r.err == nil {
		r.err = fmt.Errorf("array of %d, want at most %d", n, limit)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *reader) tuple(want int) {
	if n := r.count(want); r.err == nil && n != want {
		r.err = fmt.Errorf("tuple of %d, want %d", n, want)
	}
}

func (r *reader) strings() (l []string) {
	for range r.count(maxColumns) {
		l = append(l, r.text(maxName))
	}
	return l
}
