package imagerecord

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecord(t *testing.T) {
	for _, c := range []struct {
		r   Record
		hex string
	}{
		// mxnet.recordio.pack(IRHeader(0, 3.0, 7, 0), b"abc")
		{Record{Labels: []float32{3}, ID: 7, Content: []byte("abc")}, "00000000" + "00004040" + "0700000000000000" + "0000000000000000" + "616263"},
		// pack(IRHeader(0, [1.0, 2.0], 258, 5), b"")
		{Record{Labels: []float32{1, 2}, Listed: true, ID: 258, ID2: 5, Content: []byte{}}, "02000000" + "00000000" + "0201000000000000" + "0500000000000000" + "0000803f" + "00000040"},
		// pack(IRHeader(0, [1.5], 1, 0), b"x")
		{Record{Labels: []float32{1.5}, Listed: true, ID: 1, Content: []byte("x")}, "01000000" + "00000000" + "0100000000000000" + "0000000000000000" + "0000c03f" + "78"},
	} {
		b := c.r.Append(nil)
		require.Equal(t, c.hex, hex.EncodeToString(b))
		var got Record
		require.NoError(t, got.Parse(b))
		require.Equal(t, c.r, got)
		for n := range len(b) - len(c.r.Content) {
			require.ErrorIs(t, got.Parse(b[:n]), ErrRecord, n)
		}
	}
	var r Record
	require.NoError(t, r.Parse((&Record{Labels: []float32{float32(math.NaN())}}).Append(nil)))
	require.True(t, math.IsNaN(float64(r.Labels[0])))
	require.NoError(t, r.Parse((&Record{}).Append(nil)))
	require.Equal(t, []float32{0}, r.Labels)
	// Labels whose bytes overflow 32 bits.
	b := (&Record{}).Append(nil)
	b[3] = 0x40
	require.ErrorIs(t, r.Parse(b), ErrRecord)
}

// TestUpstreamPack: MXNet's test of up to 254 labels.
func TestUpstreamPack(t *testing.T) {
	var got Record
	for n := 1; n < 255; n++ {
		want := Record{Listed: true, ID: uint64(n), Content: []byte(strings.Repeat("c", n%17))}
		for i := range n {
			want.Labels = append(want.Labels, float32(i))
		}
		require.NoError(t, got.Parse(want.Append(nil)))
		require.Equal(t, want, got)
	}
}

func TestList(t *testing.T) {
	text := "0\t1.000000\tcats/a b.jpg\n17\t0.500000\t-2.000000\tx.png\n"
	l, err := ReadList("a.lst", strings.NewReader(text+"\n3.0\t1e-3\ty.jpg"))
	require.NoError(t, err)
	require.Equal(t, []Item{{0, []float32{1}, "cats/a b.jpg"}, {17, []float32{0.5, -2}, "x.png"}, {3, []float32{0.001}, "y.jpg"}}, l)
	var b []byte
	for _, i := range l[:2] {
		b = i.Append(b)
	}
	require.Equal(t, text, string(b))
	for _, bad := range []string{"a", "1\tx.jpg", "a\t1\tx.jpg", "-1\t1\tx.jpg", "1.5\t1\tx.jpg", "1\tb\tx.jpg", "1\t2\t ", "1\t2\t\xff"} {
		_, err := ReadList("a.lst", strings.NewReader("0\t1\ta.jpg\n"+bad))
		require.ErrorIs(t, err, ErrList, "%q", bad)
		require.ErrorContains(t, err, "a.lst:2: ")
	}
}

func FuzzRecord(f *testing.F) {
	f.Add((&Record{Labels: []float32{1, 2}, Content: []byte("abc")}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Record
		if r.Parse(b) != nil {
			return
		}
		if again := r.Append(nil); r.Listed {
			// The head's own label is not used then.
			copy(again[4:8], b[4:8])
			require.Equal(t, b, again)
		} else {
			require.Equal(t, b, again)
		}
	})
}
