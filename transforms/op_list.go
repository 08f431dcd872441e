package transforms

import (
	"encoding/json"
	"slices"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/msgpack"
	specs "github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/tensor"
)

// OpList is a parameter that holds ops. Each op has one input and one output
// and may be random. The JSON form is a list of objects with the keys op,
// version and params. The msgp form is a list of tuples of the same three. Both
// match the form of a graph.
//
// A list has 1 to 64 ops. Lists may be nested 8 levels deep.
type OpList []Op

const (
	maxListed    = 64
	maxListDepth = 8
	// maxNesting bounds the nesting of arrays and objects in a list that is
	// parsed. A nested list adds at most 5 levels: params, policies, policy,
	// op, tuple.
	maxNesting = 5 * maxListDepth
)

// nested is an op with lists of ops.
type nested interface{ lists() []OpList }

// depth returns the nesting depth of the lists, at most one more than the
// limit.
func (l OpList) depth(at int) int {
	deepest := at + 1
	if at == maxListDepth {
		return deepest
	}
	for _, op := range l {
		if n, ok := op.(nested); ok {
			for _, inner := range n.lists() {
				deepest = max(deepest, inner.depth(at+1))
			}
		}
	}
	return deepest
}

// check validates a list and its ops.
func (l OpList) check(name string) error {
	if len(l) < 1 || len(l) > maxListed {
		return paramErr("%s has %d ops, want 1 to %d", name, len(l), maxListed)
	}
	if l.depth(0) > maxListDepth {
		return paramErr("%s has lists nested deeper than %d", name, maxListDepth)
	}
	for i, op := range l {
		if op == nil {
			return paramErr("%s[%d] is nil", name, i)
		}
		info := InfoOf(op)
		if len(info.In) != 1 || len(info.Out) != 1 {
			return paramErr("%s[%d] is %s, of %d inputs and %d outputs: want one of each", name, i, info.Name, len(info.In), len(info.Out))
		}
		if err := op.Validate(); err != nil {
			return errfmt.Errorf("%s[%d], %s: %w", name, i, info.Name, err)
		}
	}
	return nil
}

// firstRandom returns the index of the first op that is random or a decoder, or
// -1.
func (l OpList) firstRandom() int {
	return slices.IndexFunc(l, func(op Op) bool {
		_, random := op.(Random)
		_, data := op.(DataShaped)
		return random || data
	})
}

// moves reports whether one of the ops moves pixels.
func (l OpList) moves() bool {
	return slices.ContainsFunc(l, func(op Op) bool {
		_, moves := op.(Mover)
		return moves
	})
}

// checkFixed is check for ops that are neither random nor decoders.
func (l OpList) checkFixed(name string) error {
	if i := l.firstRandom(); i >= 0 {
		return paramErr("%s[%d] is %s, want an op that is neither random nor a decoder", name, i, InfoOf(l[i]).Name)
	}
	return l.check(name)
}

// infer describes the output of the whole list for the input d.
func (l OpList) infer(d tensor.Desc) (_ tensor.Desc, err error) {
	for i := range l {
		if d, err = l.inferAt(i, d); err != nil {
			break
		}
	}
	return d, err
}

// inferAt describes the output of op i for the input d.
func (l OpList) inferAt(i int, d tensor.Desc) (tensor.Desc, error) {
	d, err := inferOne(l[i], d)
	if err != nil {
		err = errfmt.Errorf("op %d, %s: %w", i, InfoOf(l[i]).Name, err)
	}
	return d, err
}

func inferOne(op Op, d tensor.Desc) (tensor.Desc, error) {
	var in, out [1]tensor.Desc
	in[0] = d
	err := op.Infer(out[:], in[:])
	return out[0], err
}

// inferAny describes the output of any one of the ops for the input d.
func (l OpList) inferAny(d tensor.Desc) (any tensor.Desc, err error) {
	for i := range l {
		out, err := l.inferAt(i, d)
		if err != nil {
			return any, err
		}
		if i == 0 {
			any = out
		} else if any, err = either(any, out); err != nil {
			return any, err
		}
	}
	return any, nil
}

// either describes an output that is either a or b. The two must have the same
// dtype, layout and rank.
func either(a, b tensor.Desc) (tensor.Desc, error) {
	if a.DType != b.DType || a.Layout != b.Layout || a.Shape.Rank() != b.Shape.Rank() {
		return a, inputErr("the output is %v or %v depending on the draw, want the same dtype and layout", a, b)
	}
	for i := range a.Shape.Rank() {
		if a.Shape.At(i) != b.Shape.At(i) {
			a.Shape = a.Shape.With(i, tensor.Unknown)
		}
	}
	return a, nil
}

// emit emits the ops in order.
func (l OpList) emit(d *Draw) error {
	for i := range l {
		if err := l.emitAt(i, d); err != nil {
			return err
		}
	}
	return nil
}

// emitAt emits op i.
func (l OpList) emitAt(i int, d *Draw) error {
	err := d.Emit(l[i])
	if err != nil {
		err = errfmt.Errorf("op %d: %w", i, err)
	}
	return err
}

// String returns the JSON form.
func (l OpList) String() string {
	b, err := l.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(b)
}

type jsonOp struct {
	Op      string          `json:"op"`
	Version int             `json:"version"`
	Params  json.RawMessage `json:"params"`
}

// MarshalJSON returns the JSON form. An op without a version is an
// ErrUnknownOp.
func (l OpList) MarshalJSON() ([]byte, error) {
	j := make([]jsonOp, len(l))
	for i, op := range l {
		p, err := MarshalParams(op)
		if err != nil {
			return nil, err
		}
		info := InfoOf(op)
		j[i] = jsonOp{info.Name, info.Version, p}
	}
	return json.Marshal(j)
}

// UnmarshalJSON parses the JSON form.
func (l *OpList) UnmarshalJSON(b []byte) error {
	if err := checkNestingJSON(b); err != nil {
		return err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw) > maxListed {
		return paramErr("%d ops, want 1 to %d", len(raw), maxListed)
	}
	*l = make(OpList, len(raw))
	for i, r := range raw {
		j := usualOp(r)
		if err := specs.Unmarshal(r, &j); err != nil {
			return errfmt.Errorf("op %d: %w", i, err)
		}
		op, err := UnmarshalParams(j.Op, j.Version, j.Params)
		if err != nil {
			return errfmt.Errorf("op %d, %s: %w", i, j.Op, err)
		}
		(*l)[i] = op
	}
	return nil
}

// usualOp returns the usual values of an op's keys, for errors of missing ones:
// the version and the parameters of the op that r names.
func usualOp(r []byte) jsonOp {
	var named struct {
		Op string `json:"op"`
	}
	j := jsonOp{Op: "horizontal_flip"}
	if json.Unmarshal(r, &named) == nil && named.Op != "" {
		j.Op = named.Op
	}
	if i, err := Lookup(j.Op); err == nil {
		j.Version = i.Version
		j.Params, _ = MarshalParams(i.New()) // nil leaves them out of the error
	}
	return j
}

// checkNestingJSON rejects values that are nested too deep, before they are
// parsed level by level. b must be valid JSON.
func checkNestingJSON(b []byte) error {
	level, text := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '[' || c == '{':
			if level++; level > maxNesting {
				return paramErr("lists are nested deeper than %d", maxListDepth)
			}
		case c == ']' || c == '}':
			level--
		}
	}
	return nil
}

// MarshalMsg appends the msgp form. An op without a version is an ErrUnknownOp.
func (l OpList) MarshalMsg(b []byte) ([]byte, error) {
	b = msgpack.AppendArray(b, len(l))
	for _, op := range l {
		info := InfoOf(op)
		b = msgpack.AppendArray(b, 3)
		b = msgpack.AppendString(b, info.Name)
		b = msgpack.AppendInt(b, info.Version)
		var err error
		if b, err = AppendParams(b, op); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// UnmarshalMsg parses the msgp form and returns the rest of b.
func (l *OpList) UnmarshalMsg(b []byte) ([]byte, error) {
	if err := checkNestingMsg(b); err != nil {
		return nil, err
	}
	n, b, err := msgpack.ReadArray(b)
	if err != nil {
		return nil, err
	}
	if n > maxListed {
		return nil, paramErr("%d ops, want 1 to %d", n, maxListed)
	}
	list := make(OpList, n)
	for i := range list {
		var fields int64
		if fields, b, err = msgpack.ReadArray(b); err != nil {
			return nil, err
		}
		if fields != 3 {
			return nil, paramErr("op %d is a tuple of %d, want 3", i, fields)
		}
		var name []byte
		if name, b, err = msgpack.ReadString(b); err != nil {
			return nil, err
		}
		if len(name) > maxOpName {
			return nil, paramErr("op %d has a name of %d bytes, want at most %d", i, len(name), maxOpName)
		}
		var version int
		if version, b, err = msgpack.ReadInt(b); err != nil {
			return nil, err
		}
		if list[i], b, err = ReadParams(string(name), version, b); err != nil {
			return nil, errfmt.Errorf("op %d, %s: %w", i, name, err)
		}
	}
	*l = list
	return b, nil
}

// maxOpName bounds the length of an op's name, in bytes.
const maxOpName = 1024

// Msgsize returns an upper bound of the size of the msgp form, without the
// parameters. MarshalMsg grows the buffer for those.
func (l OpList) Msgsize() int { return msgpack.HeaderSize + 64*len(l) }

// checkNestingMsg rejects values that are nested too deep, before they are
// parsed level by level.
func checkNestingMsg(b []byte) error {
	left := [maxNesting]uint64{1} // remaining values per level
	for level := 0; level >= 0; {
		if left[level] == 0 {
			level--
			continue
		}
		left[level]--
		inside, nested, rest, err := msgpack.Next(b)
		if err != nil {
			return err
		}
		if b = rest; !nested {
			continue
		}
		if level++; level == maxNesting {
			return paramErr("lists are nested deeper than %d", maxListDepth)
		}
		left[level] = inside
	}
	return nil
}

// checkWeights wants n non-negative weights with a positive, finite sum.
func checkWeights(name string, w []float64, n int) error {
	if len(w) != n {
		return paramErr("%s has %d values, want %d, one for each op", name, len(w), n)
	}
	if i := slices.IndexFunc(w, func(v float64) bool { return !(v >= 0 && v <= 1e30) }); i >= 0 {
		return paramErr("%s[%d] is %v, want 0 to 1e30", name, i, w[i])
	}
	if sum(w) <= 0 {
		return paramErr("%s are all 0", name)
	}
	return nil
}

func sum(w []float64) (s float64) {
	for _, v := range w {
		s += v
	}
	return s
}
