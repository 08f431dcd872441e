package imagerecord

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/recordio"
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
	// The size of the labels overflows 32 bits.
	b := (&Record{}).Append(nil)
	b[3] = 0x40
	require.ErrorIs(t, r.Parse(b), ErrRecord)
}

// TestUpstreamPack repeats MXNet's test of up to 254 labels.
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
			// The head's own label is unused here.
			copy(again[4:8], b[4:8])
			require.Equal(t, b, again)
		} else {
			require.Equal(t, b, again)
		}
	})
}

// TestListDamage changes and truncates a list, which has no checksum. A changed
// bit is an error of a line or changes that line alone. A truncated list has
// all earlier lines. Its last line has a shorter path or is an error.
func TestListDamage(t *testing.T) {
	var text []byte
	want := []Item{{0, []float32{1}, "cats/a b.jpg"}, {17, []float32{0.5, -2}, "größe.png"}, {3, []float32{8}, "y.jpg"}}
	var ends []int
	for _, i := range want {
		text = i.Append(text)
		ends = append(ends, len(text))
	}
	for n := range text {
		got, err := ReadList("l", bytes.NewReader(text[:n]))
		k := 0
		for k < len(ends) && ends[k] <= n {
			k++
		}
		if err != nil {
			require.ErrorIs(t, err, ErrList)
			require.ErrorContains(t, err, fmt.Sprintf("l:%d: ", k+1))
			continue
		}
		require.LessOrEqual(t, len(got), k+1)
		require.Equal(t, want[:k], append([]Item{}, got[:k]...), n)
	}
	for at := range text {
		for bit := range 8 {
			b := bytes.Clone(text)
			b[at] ^= 1 << bit
			got, err := ReadList("l", bytes.NewReader(b))
			if err != nil {
				require.ErrorIs(t, err, ErrList)
				continue
			}
			k := 0
			for ends[k] <= at {
				k++
			}
			require.Len(t, got, len(want), "byte %d bit %d", at, bit)
			got[k] = want[k]
			require.Equal(t, want, got, "byte %d bit %d", at, bit)
		}
	}
}

// TestRecordDamage changes and truncates a record. A changed bit is an error or
// changes the result. A truncation within the head or the labels is an error.
func TestRecordDamage(t *testing.T) {
	want := Record{Labels: []float32{1, 2}, Listed: true, ID: 258, ID2: 5, Content: []byte("abc")}
	b := want.Append(nil)
	for n := range b {
		var r Record
		if err := r.Parse(b[:n]); n < HeadSize+8 {
			require.ErrorIs(t, err, ErrRecord)
		} else {
			require.NoError(t, err)
			require.Equal(t, want.Content[:n-HeadSize-8], r.Content)
		}
	}
	for at := range b {
		for bit := range 8 {
			x := bytes.Clone(b)
			x[at] ^= 1 << bit
			var r Record
			if err := r.Parse(x); err != nil {
				require.ErrorIs(t, err, ErrRecord)
				require.Less(t, at, 4, "only the number of labels can be wrong")
				continue
			}
			if at >= 4 {
				require.Len(t, r.Labels, 2)
				require.Len(t, r.Content, 3)
			}
		}
	}
}

func FuzzList(f *testing.F) {
	f.Add([]byte("0\t1.000000\tcats/a b.jpg\n17\t0.500000\t-2.000000\tx.png\n"))
	f.Add([]byte("3.0\t1e-3\t y.jpg\r\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadList("l", bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, i := range l {
			require.NotEmpty(t, i.Labels)
			require.NotEmpty(t, i.Path)
			got, err := ReadList("l", bytes.NewReader(i.Append(nil)))
			require.NoError(t, err)
			require.Equal(t, i.Index, got[0].Index)
			require.Equal(t, i.Path, got[0].Path)
		}
	})
}

// TestFormat writes the example of docs/format/imagerecord.md and reads it.
func TestFormat(t *testing.T) {
	want := []Record{
		{Labels: []float32{3}, ID: 7, Content: []byte("jpeg")},
		{Labels: []float32{1, -0.5}, Listed: true, ID: 8, Content: []byte("png")},
	}
	var rec, idx bytes.Buffer
	w, err := recordio.NewIndexedWriter(&rec, &idx, 0)
	require.NoError(t, err)
	for i := range want {
		require.NoError(t, w.WriteKey(int64(want[i].ID), want[i].Append(nil)))
	}
	root := filepath.Join("..", "..")
	b := hexdoc.Read(t, root, "imagerecord")
	require.Equal(t, hex.Dump(b), hex.Dump(rec.Bytes()))
	r := recordio.NewBytes(b, recordio.Options{})
	for _, x := range want {
		p, err := r.Next()
		require.NoError(t, err)
		var got Record
		require.NoError(t, got.Parse(p))
		require.Equal(t, x, got)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "format", "imagerecord.md"))
	require.NoError(t, err)
	require.Contains(t, string(doc), "```\n"+idx.String()+"```\n")
	list := (&Item{7, []float32{3}, "cats/a b.jpg"}).Append(nil)
	list = (&Item{8, []float32{1, -0.5}, "x.png"}).Append(list)
	require.Contains(t, string(doc), "```\n"+string(list)+"```\n")
}
