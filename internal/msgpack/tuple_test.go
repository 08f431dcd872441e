package msgpack

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"
)

type pair struct{ a, b int }

func (p *pair) fields() []any                         { return []any{&p.a, &p.b} }
func (p *pair) MarshalMsg(b []byte) ([]byte, error)   { return AppendTuple(b, p.fields()) }
func (p *pair) UnmarshalMsg(b []byte) ([]byte, error) { return ReadTuple(b, p.fields(), "a b") }
func (p *pair) Msgsize() int                          { return TupleSize(p.fields()) }

type all struct {
	bool    bool
	uint8   uint8
	int     int
	int64   int64
	uint64  uint64
	float32 float32
	float64 float64
	ints    []int
	floats  []float64
	lists   [][]int
	tables  [][]float64
	pair    pair
	pairs   []pair
	text    string
}

func (z *all) fields() []any {
	return []any{&z.bool, &z.uint8, &z.int, &z.int64, &z.uint64, &z.float32, &z.float64, &z.ints, &z.floats, &z.lists, &z.tables, &z.pair, List(&z.pairs), String(&z.text)}
}

const names = "bool uint8 int int64 uint64 float32 float64 ints floats lists tables pair pairs text"

func tupleValues() *all {
	return &all{
		true, 200, -5, math.MinInt64, math.MaxUint64, 0.5, 1e300, []int{1, -70000}, []float64{0.1},
		[][]int{{1}, nil, {2, 3}}, [][]float64{{}, {4}}, pair{1, 2}, []pair{{3, 4}, {5, 6}}, "größe",
	}
}

// TestTuple writes and reads every kind of field.
func TestTuple(t *testing.T) {
	in := tupleValues()
	b, err := AppendTuple([]byte("x"), in.fields())
	require.NoError(t, err)
	require.LessOrEqual(t, len(b)-1, TupleSize(in.fields()))
	require.NoError(t, Whole(b[1:]))
	var out all
	rest, err := ReadTuple(append(b[1:], 'y'), out.fields(), names)
	require.NoError(t, err)
	require.Equal(t, "y", string(rest))
	in.tables[0] = nil // an empty list is read as nil
	require.Equal(t, in, &out)

	want := msgp.AppendArrayHeader([]byte("x"), 14)
	want = msgp.AppendBool(want, true)
	want = msgp.AppendUint8(want, 200)
	want = msgp.AppendInt(want, -5)
	require.Equal(t, want, b[:len(want)])
}

// TestBadTuple gives truncated and wrong values.
func TestBadTuple(t *testing.T) {
	b, err := AppendTuple(nil, tupleValues().fields())
	require.NoError(t, err)
	for n := range b {
		var out all
		_, err := ReadTuple(b[:n], out.fields(), names)
		require.ErrorIs(t, err, ErrShort, n)
	}
	var p pair
	_, err = ReadTuple([]byte{0x93, 1, 2, 3}, p.fields(), "a b")
	require.EqualError(t, err, "msgp: array of 3, want 2")
	_, err = ReadTuple([]byte{0x92, 1, 0xa1, 'x'}, p.fields(), "a b")
	require.EqualError(t, err, "b: msgp: string, want integer")
	var l []float64
	_, err = ReadTuple(append(msgp.AppendArrayHeader([]byte{0x91}, maxList+1), make([]byte, maxList+1)...), []any{&l}, "l")
	require.EqualError(t, err, "l: msgp: list of 4097, want at most 4096")
	_, err = ReadTuple([]byte{0x91, 0x92, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3}, []any{&l}, "l")
	require.ErrorContains(t, err, "l: [1]: ")
	_, err = ReadTuple([]byte{0x91, 1}, []any{new(string)}, "s")
	require.ErrorContains(t, err, "s: a field of an unknown type")
	_, err = AppendTuple(nil, []any{new(string)})
	require.ErrorContains(t, err, "a field of an unknown type")
}
