package msgpack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"
)

// values returns one value of every kind and width that msgp writes.
func values() map[string][]byte {
	long := strings.Repeat("x", 70_000)
	list := msgp.AppendArrayHeader(nil, 70_000)
	for range 70_000 {
		list = msgp.AppendInt(list, 1)
	}
	table := msgp.AppendMapHeader(nil, 2)
	for _, k := range []string{"a", "b"} {
		table = msgp.AppendString(table, k)
		table = append(table, msgp.AppendArrayHeader(nil, 1)...)
		table = msgp.AppendNil(table)
	}
	return map[string][]byte{
		"nil": msgp.AppendNil(nil), "true": msgp.AppendBool(nil, true), "5": msgp.AppendInt(nil, 5), "-5": msgp.AppendInt(nil, -5),
		"uint8": msgp.AppendUint64(nil, 200), "uint16": msgp.AppendUint64(nil, 60_000), "uint32": msgp.AppendUint64(nil, 1<<31), "uint64": msgp.AppendUint64(nil, 1<<63),
		"int8": msgp.AppendInt64(nil, -100), "int16": msgp.AppendInt64(nil, -30_000), "int32": msgp.AppendInt64(nil, -1<<31), "int64": msgp.AppendInt64(nil, -1<<63),
		"float32": msgp.AppendFloat32(nil, 1), "float64": msgp.AppendFloat64(nil, 1),
		"fixstr": msgp.AppendString(nil, "abc"), "str8": msgp.AppendString(nil, long[:200]), "str16": msgp.AppendString(nil, long[:60_000]), "str32": msgp.AppendString(nil, long),
		"bin8": msgp.AppendBytes(nil, []byte(long[:200])), "bin16": msgp.AppendBytes(nil, []byte(long[:60_000])), "bin32": msgp.AppendBytes(nil, []byte(long)),
		"fixext1": {0xd4, 1, 2}, "fixext16": append([]byte{0xd8, 1}, long[:16]...), "ext8": {0xc7, 3, 1, 1, 2, 3}, "ext16": {0xc8, 0, 1, 1, 9}, "ext32": {0xc9, 0, 0, 0, 1, 1, 9},
		"list": list, "map": table, "map16": {0xde, 0, 1, 1, 2}, "map32": {0xdf, 0, 0, 0, 1, 1, 2}, "array16": {0xdc, 0, 1, 1},
	}
}

// TestWhole compares Whole with msgp.Skip on whole and on cut values.
func TestWhole(t *testing.T) {
	for name, b := range values() {
		rest, err := msgp.Skip(b)
		require.NoError(t, err, name)
		require.Empty(t, rest, name)
		require.NoError(t, Whole(b), name)
		require.NoError(t, Whole(append(b, 0xff)), name)
		for _, n := range []int{0, 1, 2, 3, 4, 5, len(b) / 2, len(b) - 1} {
			if n < len(b) {
				require.ErrorIs(t, Whole(b[:n]), ErrShort, "%s cut to %d", name, n)
			}
		}
	}
}

// TestLongLength reads lengths of 4 GiB, on which msgp panics where int has 32
// bits.
func TestLongLength(t *testing.T) {
	for _, b := range []string{"\xdb\xff\xff\xff\xffx", "\xc6\xff\xff\xff\xffx", "\xc9\xff\xff\xff\xff\x01x", "\xdd\xff\xff\xff\xffx", "\xdf\xff\xff\xff\xffx", "\x91\xdb\xff\xff\xff\xffx"} {
		require.ErrorIs(t, Whole([]byte(b)), ErrShort, "%x", b)
	}
	r := Reader{B: []byte("\xdb\xff\xff\xff\xffx")}
	require.Empty(t, r.Text(10))
	require.ErrorIs(t, r.Err, ErrShort)
}
