package transforms

import (
	"encoding/json"
	"reflect"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/msgpack"
	specs "github.com/infer-prep/infer-prep/internal/spec"
)

// ErrUnknownOp reports an op that is not registered, or a version of it that
// this build does not have.
var ErrUnknownOp = registered.ErrUnknown()

func lookup(name string, version int) (Info, spec, error) {
	i, err := Lookup(name)
	if err != nil {
		return Info{}, nil, err
	}
	if version != i.Version {
		return Info{}, nil, errfmt.Errorf("transforms: %w %q version %d: this build has version %d", ErrUnknownOp, name, version, i.Version)
	}
	s, ok := i.New().(spec)
	if !ok {
		return Info{}, nil, errfmt.Errorf("transforms: %w %q: it has no msgp methods", ErrUnknownOp, name)
	}
	return i, s, nil
}

// MarshalParams returns an op's parameters as a JSON object.
func MarshalParams(op Op) (json.RawMessage, error) {
	if !stored(op) {
		return nil, errfmt.Errorf("transforms: %w %s: it has no Info of its own, or version 0", ErrUnknownOp, typeName(op))
	}
	return json.Marshal(op)
}

// stored reports whether graphs can hold an op. An op that embeds another has
// the other's Info, under which it would be read back as the other.
func stored(op Op) bool {
	i := InfoOf(op)
	return i.Version > 0 && reflect.TypeOf(i.New()) == reflect.TypeOf(op)
}

// UnmarshalParams creates a registered op from the JSON object of its
// parameters and validates it. The object must state every parameter; an
// unknown or missing parameter is an error that names it.
func UnmarshalParams(name string, version int, params []byte) (Op, error) {
	_, op, err := lookup(name, version)
	if err != nil {
		return nil, err
	}
	if err := specs.Unmarshal(params, op); err != nil {
		return nil, errfmt.Errorf("%w: %w", ErrParam, err)
	}
	return op, op.Validate()
}

// MakeOp creates a registered op from the JSON object of some of its parameters
// and validates it. The others have their defaults. params may be nil.
func MakeOp(name string, params []byte) (Op, error) {
	i, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	op := i.New()
	if len(params) == 0 {
		params = []byte("{}")
	}
	if err := specs.Merge(params, op); err != nil {
		return nil, errfmt.Errorf("transforms: %s: %w: %w", name, ErrParam, err)
	}
	if s, ok := op.(interface{ clearUnused(func(string) bool) }); ok {
		var given map[string]json.RawMessage
		if err := json.Unmarshal(params, &given); err != nil {
			return nil, err
		}
		s.clearUnused(func(name string) bool { return given[name] != nil })
	}
	if err := op.Validate(); err != nil {
		return nil, errfmt.Errorf("transforms: %s: %w", name, err)
	}
	return op, nil
}

// AppendParams appends an op's parameters in msgp form: a tuple in the order of
// the fields.
func AppendParams(b []byte, op Op) ([]byte, error) {
	s, ok := op.(spec)
	if !ok || !stored(op) {
		return nil, errfmt.Errorf("transforms: %w %s: it has no Info of its own, version 0 or no msgp methods", ErrUnknownOp, typeName(op))
	}
	return s.MarshalMsg(b)
}

// ReadParams creates a registered op from its msgp form, validates it and
// returns the rest of b.
func ReadParams(name string, version int, b []byte) (Op, []byte, error) {
	_, op, err := lookup(name, version)
	if err != nil {
		return nil, nil, err
	}
	if err := msgpack.Whole(b); err != nil {
		return nil, nil, errfmt.Errorf("%w: %w", ErrParam, err)
	}
	rest, err := op.UnmarshalMsg(b)
	if err != nil {
		return nil, nil, errfmt.Errorf("%w: %w", ErrParam, err)
	}
	return op, rest, op.Validate()
}

func typeName(op Op) string { return reflect.TypeOf(op).String() }
