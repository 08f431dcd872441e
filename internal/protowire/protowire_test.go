package protowire

import (
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// TestAppend compares with the bytes that the reference appends.
func TestAppend(t *testing.T) {
	head := []byte("head")
	for shift := range 64 {
		for _, v := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, math.MaxUint64 >> shift} {
			require.Equal(t, protowire.AppendVarint(head, v), AppendVarint(head, v))
			require.Equal(t, protowire.SizeVarint(v), SizeVarint(v), v)
			require.Equal(t, protowire.AppendFixed32(head, uint32(v)), AppendFixed32(head, uint32(v)))
		}
	}
	for _, n := range []int32{1, 15, 16, 1<<29 - 1, math.MaxInt32} {
		for _, kind := range []Type{VarintType, Fixed64Type, BytesType, StartGroupType, EndGroupType, Fixed32Type} {
			require.Equal(t, protowire.AppendTag(head, protowire.Number(n), protowire.Type(kind)), AppendTag(head, Number(n), kind))
		}
	}
	for _, s := range []string{"", "a", string(make([]byte, 127)), string(make([]byte, 128)), string(make([]byte, 1<<14))} {
		require.Equal(t, protowire.AppendString(head, s), AppendString(head, s))
		require.Equal(t, protowire.AppendBytes(head, []byte(s)), AppendBytes(head, []byte(s)))
	}
}

func TestConsume(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", io.ErrUnexpectedEOF},
		{"\x80", io.ErrUnexpectedEOF},
		{"\x00", errNumber},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", errOverflow},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80", errOverflow},
		{"\xff\xff\xff\xff\x7f", errNumber}, // 2^32 - 1
	} {
		_, _, n := ConsumeTag([]byte(c.in))
		require.Equal(t, c.want, ParseError(n), "%q", c.in)
	}
	n, kind, size := ConsumeTag([]byte("\x0a\x02ab"))
	require.Equal(t, Number(1), n)
	require.Equal(t, BytesType, kind)
	v, m := ConsumeBytes([]byte("\x02abc"))
	require.Equal(t, "ab", string(v))
	require.Equal(t, []int{1, 3}, []int{size, m})
	for _, kind := range []Type{StartGroupType, EndGroupType, 6, 7} {
		require.Equal(t, errReserved, ParseError(ConsumeValue(kind, []byte("\x00\x00"))))
	}
	require.NoError(t, ParseError(0))
}

// FuzzConsume compares with what the reference reads.
func FuzzConsume(f *testing.F) {
	for _, s := range []string{"", "\x08\x01", "\x0a\x03abc", "\x0d\x00\x00\x80\x3f", "\x11\x00\x00\x00\x00\x00\x00\x00\x80", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "\xf8\xff\xff\xff\x3f"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		same := func(want, got int) { // lengths, and the errors of negative ones
			t.Helper()
			if want >= 0 || got >= 0 {
				require.Equal(t, want, got)
				return
			}
			require.ErrorContains(t, protowire.ParseError(want), ParseError(got).Error()) // after "proto:"
		}
		number, kind, n := protowire.ConsumeTag(b)
		ours, ourKind, m := ConsumeTag(b)
		same(n, m)
		if n < 0 {
			return
		}
		require.Equal(t, int32(number), int32(ours))
		require.Equal(t, int8(kind), int8(ourKind))
		b = b[n:]
		v, n := protowire.ConsumeVarint(b)
		w, m := ConsumeVarint(b)
		same(n, m)
		require.Equal(t, v, w)
		v32, n := protowire.ConsumeFixed32(b)
		w32, m := ConsumeFixed32(b)
		same(n, m)
		require.Equal(t, v32, w32)
		v, n = protowire.ConsumeFixed64(b)
		w, m = ConsumeFixed64(b)
		same(n, m)
		require.Equal(t, v, w)
		bytes, n := protowire.ConsumeBytes(b)
		ourBytes, m := ConsumeBytes(b)
		same(n, m)
		require.Equal(t, bytes, ourBytes)
		if kind != protowire.StartGroupType && kind != protowire.EndGroupType {
			same(protowire.ConsumeFieldValue(number, kind, b), ConsumeValue(ourKind, b))
		}
	})
}
