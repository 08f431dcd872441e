package tiff

import (
	"encoding/binary"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

// oneStrip is an uncompressed image in one strip, or one for each plane, of
// which only the directory is in memory.
type oneStrip struct {
	side, planes int
	head         []byte
	read         atomic.Int64
}

func newOneStrip(side, planes int) *oneStrip {
	s := &oneStrip{side: side, planes: planes}
	le := binary.LittleEndian
	tags := [][2]uint32{{256, uint32(side)}, {257, uint32(side)}, {258, 8}, {259, 1}, {262, 1}, {273, 0}, {277, uint32(planes)}, {278, uint32(side)}, {279, 0}, {284, uint32(min(planes, 2))}}
	const dir = 8
	lists := dir + 2 + 12*len(tags) + 4
	size := lists + 4*2*planes
	b := append([]byte("II*\x00"), le.AppendUint32(nil, dir)...)
	b = le.AppendUint16(b, uint16(len(tags)))
	var behind []byte
	for _, t := range tags {
		b = le.AppendUint16(le.AppendUint16(b, uint16(t[0])), typeLong)
		n, v := 1, t[1]
		if t[0] == 273 || t[0] == 279 {
			var list []byte
			for p := range planes {
				v = uint32(side * side)
				if t[0] == 273 {
					v = uint32(size + p*side*side)
				}
				list = le.AppendUint32(list, v)
			}
			if n = planes; n > 1 {
				v = uint32(lists + len(behind))
				behind = append(behind, list...)
			}
		}
		b = le.AppendUint32(le.AppendUint32(b, uint32(n)), v)
	}
	b = append(le.AppendUint32(b, 0), behind...)
	s.head = append(b, make([]byte, size-len(b))...)
	return s
}

func (s *oneStrip) size() int64 {
	return int64(len(s.head)) + int64(s.planes)*int64(s.side)*int64(s.side)
}

func (s *oneStrip) at(x, y, plane int) byte { return byte(x*7 + y*13 + plane*101) }

func (s *oneStrip) ReadAt(b []byte, at int64) (int, error) {
	s.read.Add(int64(len(b)))
	for i := range b {
		p := at + int64(i)
		if p >= s.size() {
			return i, io.EOF
		}
		if p < int64(len(s.head)) {
			b[i] = s.head[p]
			continue
		}
		p -= int64(len(s.head))
		plane, side := int64(s.side)*int64(s.side), int64(s.side)
		b[i] = s.at(int(p%plane%side), int(p%plane/side), int(p/plane))
	}
	return len(b), nil
}

// TestOneStrip reads windows of an uncompressed scene of 900 megapixels in one
// strip, whose pixels are beyond the limits: only the rows of the window are
// read.
func TestOneStrip(t *testing.T) {
	for _, planes := range []int{1, 3} {
		s := newOneStrip(30_000, planes)
		r, err := NewReader(s, s.size(), nil)
		require.NoError(t, err)
		i, err := r.Image(0)
		require.NoError(t, err)
		info, err := i.Info()
		require.NoError(t, err)
		require.Equal(t, 2, info.BlockHeight)
		for _, w := range []codec.Region{{Left: 29_995, Top: 29_993, Width: 5, Height: 7}, {Left: 3, Top: 0, Width: 40, Height: 1}, {Left: 11_111, Top: 22_221, Width: 30, Height: 4}} {
			s.read.Store(0)
			x, err := i.Tensor(w)
			require.NoError(t, err)
			for k, v := range x.Data {
				p := k / planes
				require.Equal(t, s.at(w.Left+p%w.Width, w.Top+p/w.Width, k%planes), v, "%v: %d", w, k)
			}
			require.LessOrEqual(t, s.read.Load(), int64(planes*(w.Height+2)*s.side))
		}
		missing, err := i.Missing(codec.Region{Left: 9, Top: 20_000, Width: 1, Height: 1})
		require.NoError(t, err)
		require.False(t, missing)
	}
	// The strip ends too early.
	s := newOneStrip(3000, 1)
	r, err := NewReader(s, s.size()-1, nil)
	require.NoError(t, err)
	i, err := r.Image(0)
	require.NoError(t, err)
	_, err = i.Tensor(codec.Region{Width: 1, Height: 1})
	require.NoError(t, err)
	_, err = i.Tensor(codec.Region{Left: 2999, Top: 2999, Width: 1, Height: 1})
	require.ErrorIs(t, err, codec.ErrFormat)
}
