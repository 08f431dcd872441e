package msgpack

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tinylib/msgp/msgp"
)

// TestAppend compares the bytes of the Append functions with msgp's, around
// every width.
func TestAppend(t *testing.T) {
	for shift := range 64 {
		for d := -2; d <= 2; d++ {
			u := uint64(1)<<shift + uint64(d)
			for _, u := range []uint64{u, -u} {
				require.Equal(t, msgp.AppendUint64(nil, u), AppendUint(nil, u), u)
				require.Equal(t, msgp.AppendUint8(nil, uint8(u)), AppendUint(nil, uint8(u)), uint8(u))
				require.Equal(t, msgp.AppendInt64(nil, int64(u)), AppendInt(nil, int64(u)), int64(u))
				require.Equal(t, msgp.AppendInt(nil, int(u)), AppendInt(nil, int(u)), int(u))
				require.Equal(t, msgp.AppendFloat64(nil, math.Float64frombits(u)), AppendFloat64(nil, math.Float64frombits(u)), u)
				require.Equal(t, msgp.AppendFloat32(nil, math.Float32frombits(uint32(u))), AppendFloat32(nil, math.Float32frombits(uint32(u))), u)
			}
		}
	}
	for _, n := range []int{0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536} {
		require.Equal(t, msgp.AppendArrayHeader(nil, uint32(n)), AppendArray(nil, n), n)
		s := strings.Repeat("x", n)
		require.Equal(t, msgp.AppendString(nil, s), AppendString(nil, s), n)
	}
	require.Equal(t, msgp.AppendBool(nil, true), AppendBool(nil, true))
	require.Equal(t, msgp.AppendBool(nil, false), AppendBool(nil, false))
}

// sameAs compares a Read function with msgp's on the same input: the value and
// the rest, or that both fail.
func sameAs[T any](t *testing.T, b []byte, name string, read, want func([]byte) (T, []byte, error)) {
	t.Helper()
	v, rest, err := read(b)
	w, left, wantErr := want(b)
	if wantErr != nil {
		require.Error(t, err, "%s %x", name, b)
		return
	}
	require.NoError(t, err, "%s %x", name, b)
	require.True(t, bytes.Equal(left, rest), "%s %x", name, b)
	require.Equal(t, w, v, "%s %x", name, b)
}

// sameReads compares every Read function with that of tinylib/msgp on the
// input b.
func sameReads(t *testing.T, b []byte) {
	t.Helper()
	if Whole(b) != nil {
		return // msgp panics on some of them where int has 32 bits; see Whole
	}
	bits32 := func(v float32, b []byte, err error) (uint32, []byte, error) { return math.Float32bits(v), b, err }
	bits64 := func(v float64, b []byte, err error) (uint64, []byte, error) { return math.Float64bits(v), b, err }
	sameAs(t, b, "bool", ReadBool, msgp.ReadBoolBytes)
	sameAs(t, b, "int", ReadInt, msgp.ReadIntBytes)
	sameAs(t, b, "int64", ReadInt64, msgp.ReadInt64Bytes)
	sameAs(t, b, "uint8", ReadUint8, msgp.ReadUint8Bytes)
	sameAs(t, b, "uint64", ReadUint64, msgp.ReadUint64Bytes)
	sameAs(t, b, "string", ReadString, msgp.ReadStringZC)
	sameAs(t, b, "float32", func(b []byte) (uint32, []byte, error) { return bits32(ReadFloat32(b)) },
		func(b []byte) (uint32, []byte, error) { return bits32(msgp.ReadFloat32Bytes(b)) })
	sameAs(t, b, "float64", func(b []byte) (uint64, []byte, error) { return bits64(ReadFloat64(b)) },
		func(b []byte) (uint64, []byte, error) { return bits64(msgp.ReadFloat64Bytes(b)) })
	sameAs(t, b, "array", ReadArray, func(b []byte) (int64, []byte, error) {
		n, rest, err := msgp.ReadArrayHeaderBytes(b)
		return int64(n), rest, err
	})
	_, nested, rest, err := Next(b)
	require.NoError(t, err)
	kind := msgp.NextType(b)
	require.Equal(t, kind == msgp.ArrayType || kind == msgp.MapType, nested, "%x", b)
	if left, err := msgp.Skip(b); err == nil && !nested {
		require.True(t, bytes.Equal(left, rest), "%x", b)
	}
}

// TestRead compares the Read functions with msgp's on every value and on every
// first byte.
func TestRead(t *testing.T) {
	for _, b := range values() {
		sameReads(t, b)
		sameReads(t, append(bytes.Clone(b), 1, 2, 3))
	}
	for c := range 256 {
		for _, fill := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			sameReads(t, append([]byte{byte(c)}, bytes.Repeat([]byte{fill}, 40)...))
		}
	}
	for _, b := range []string{"", "\xcf\xff", "\xca\x00", "\xcb\x00", "\xa2x"} {
		_, _, err := ReadInt([]byte(b))
		require.Error(t, err)
		_, _, err = ReadFloat64([]byte(b))
		require.Error(t, err)
		_, _, err = ReadString([]byte(b))
		require.Error(t, err)
		_, _, err = ReadArray([]byte(b))
		require.Error(t, err)
		_, _, err = ReadBool([]byte(b))
		require.Error(t, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, b := range values() {
		if len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameReads(t, b) })
}
