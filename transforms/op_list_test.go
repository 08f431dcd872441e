package transforms

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stranger is an unregistered op.
type stranger struct{ Invert }

// within nests an op in depth lists.
func within(depth int, op Op) Op {
	for range depth {
		op = NewCompose(op)
	}
	return op
}

func TestOpListDepth(t *testing.T) {
	good := within(maxListDepth, NewInvert())
	require.NoError(t, good.Validate())
	roundTrips(t, InfoOf(good), good)
	policies := Op(NewInvert())
	for range maxListDepth {
		policies = NewRandomSelectSubpolicy().Policy([]float64{1}, policies)
	}
	roundTrips(t, InfoOf(policies), policies)

	bad := within(maxListDepth+1, NewInvert())
	refusesParam(t, "deeper than 8", bad)
	self := NewCompose(NewInvert())
	self.Ops[0] = self
	refusesParam(t, "deeper than 8", self)

	// Input that is nested too deep is rejected before it is parsed, in no
	// time.
	const deep = 1 << 20
	text := strings.Repeat(`{"ops":[{"op":"compose","version":1,"params":`, 3000) + `{}` + strings.Repeat(`}]}`, 3000)
	_, err := UnmarshalParams("compose", 1, []byte(text))
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, "deeper than 8")
	var b []byte
	for range deep {
		b = append(b, 0x91, 0x91, 0x93, 0xa7)
		b = append(b, "compose\x01"...)
	}
	b = append(b, 0xc0) // nil, so that the value is whole
	_, _, err = ReadParams("compose", 1, b)
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, "deeper than 8")
	require.NoError(t, checkNestingJSON([]byte(`"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"["`)))
}

func TestOpListForms(t *testing.T) {
	many := make([]Op, maxListed+1)
	for i := range many {
		many[i] = NewInvert()
	}
	long := NewCompose(many...)
	refusesParam(t, "65 ops", long)
	text, err := MarshalParams(long)
	require.NoError(t, err)
	_, err = UnmarshalParams("compose", 1, text)
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, "65 ops")
	b, err := AppendParams(nil, long)
	require.NoError(t, err)
	_, _, err = ReadParams("compose", 1, b)
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, "65 ops")

	for _, c := range []struct{ text, want string }{
		{`{"ops":[{"op":"invert","version":1}]}`, `"params" is missing`},
		{`{"ops":[{"op":"invert","version":1,"params":{},"more":1}]}`, "more"},
		{`{"ops":[{"op":"invert","version":2,"params":{}}]}`, "version 2"},
		{`{"ops":[{"op":"no_such_op","version":1,"params":{}}]}`, "no_such_op"},
		{`{"ops":[{"op":"crop","version":1,"params":{"top":1}}]}`, "crop"},
		{`{"ops":{}}`, "cannot unmarshal"},
		{`{"ops":[]}`, "ops has 0 ops"},
	} {
		_, err := UnmarshalParams("compose", 1, []byte(c.text))
		require.ErrorIs(t, err, ErrParam, c.text)
		require.ErrorContains(t, err, c.want)
	}
	_, err = UnmarshalParams("random_resized_crop", 1, []byte(`{"height":1,"width":1,"scale":[1],"ratio":[1,1],"interpolation":"bilinear","backend":"pillow","no_antialias":false}`))
	require.ErrorContains(t, err, "a range has 1 values")

	// A list may hold an unregistered op, but cannot be serialized then.
	own := NewCompose(&stranger{})
	require.NoError(t, own.Validate())
	_, err = MarshalParams(own)
	require.ErrorIs(t, err, ErrUnknownOp)
	_, err = AppendParams(nil, own)
	require.ErrorIs(t, err, ErrUnknownOp)
	require.ErrorContains(t, err, "stranger")
	require.Contains(t, own.Ops.String(), "stranger")
}
