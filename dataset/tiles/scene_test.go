package tiles_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// variants is the number of different tiles of a procedural.
const variants = 7

// procedural is a BigTIFF of any size, uint8 with 3 bands, in tiles that
// Deflate compresses. Tile number t has the pixels of variant t%variants. Only
// the directory is in memory.
type procedural struct {
	side, tile, across int
	noData             byte
	pixels             [variants][]byte // all noData in the last one, if blank
	packed             [variants][]byte
	missing            func(t int) bool
	head               []byte              // up to the first tile
	starts             [variants + 1]int64 // of the packed tiles, one behind the other

	mu    sync.Mutex
	tiles map[int]int // how often each was read
	bytes int         // read of tiles
	open  int
}

// scene returns a scene of side x side pixels. If blank is true, every seventh
// tile has the no-data value only. missing may be nil.
func scene(t testing.TB, side, tile int, blank bool, missing func(t int) bool) *procedural {
	p := &procedural{side: side, tile: tile, across: (side + tile - 1) / tile, noData: 9, missing: missing, tiles: map[int]int{}}
	r := rand.New(rand.NewPCG(1, uint64(side)))
	for k := range variants {
		pix := make([]byte, tile*tile*3)
		for i := range pix {
			pix[i] = byte(32*k + 16 + r.IntN(16))
			if blank && k == variants-1 {
				pix[i] = p.noData
			}
		}
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, err := z.Write(pix)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		p.pixels[k], p.packed[k] = pix, b.Bytes()
		p.starts[k+1] = p.starts[k] + int64(b.Len())
	}
	n := p.across * p.across
	le := binary.LittleEndian
	type entry struct {
		tag, typ uint16
		values   []byte
		size     int
	}
	long := func(v int) []byte { return le.AppendUint32(nil, uint32(v)) }
	short := func(v ...uint16) (b []byte) {
		for _, x := range v {
			b = le.AppendUint16(b, x)
		}
		return b
	}
	doubles := func(v ...float64) (b []byte) {
		for _, x := range v {
			b = le.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	entries := []entry{
		{256, 4, long(side), 4}, {257, 4, long(side), 4}, {258, 3, short(8, 8, 8), 2}, {259, 3, short(8), 2}, {262, 3, short(2), 2},
		{277, 3, short(3), 2}, {284, 3, short(1), 2}, {322, 4, long(tile), 4}, {323, 4, long(tile), 4},
		{324, 16, make([]byte, 8*n), 8}, {325, 4, make([]byte, 4*n), 4},
		{33550, 12, doubles(10, 10, 0), 8}, {33922, 12, doubles(0, 0, 0, 600000.5, 5300000.25, 0), 8}, {42113, 2, []byte("9\x00"), 1},
	}
	at := 16 + 8 + 20*len(entries) + 8
	for _, e := range entries {
		if len(e.values) > 8 {
			at += len(e.values)
		}
	}
	for i := range n {
		if missing == nil || !missing(i) {
			le.PutUint64(entries[9].values[8*i:], uint64(int64(at)+p.start(i)))
			le.PutUint32(entries[10].values[4*i:], uint32(len(p.packed[i%variants])))
		}
	}
	b := append([]byte("II+\x00\x08\x00\x00\x00"), doubles(0)...)
	le.PutUint64(b[8:], 16)
	b = le.AppendUint64(b, uint64(len(entries)))
	var behind []byte
	first := 16 + 8 + 20*len(entries) + 8
	for _, e := range entries {
		b = le.AppendUint16(le.AppendUint16(b, e.tag), e.typ)
		b = le.AppendUint64(b, uint64(len(e.values)/e.size))
		v := e.values
		if len(v) > 8 {
			v = le.AppendUint64(nil, uint64(first+len(behind)))
			behind = append(behind, e.values...)
		}
		b = append(b, append(v, make([]byte, 8-len(v))...)...)
	}
	p.head = append(append(b, make([]byte, 8)...), behind...)
	require.Len(t, p.head, at)
	return p
}

// start returns where tile t begins, counted from the end of the head.
func (p *procedural) start(t int) int64 {
	return int64(t/variants)*p.starts[variants] + p.starts[t%variants]
}

// at returns sample b of the pixel in column x and row y.
func (p *procedural) at(x, y, b int) byte {
	t := y/p.tile*p.across + x/p.tile
	if x >= p.side || y >= p.side || p.missing != nil && p.missing(t) {
		return p.noData
	}
	return p.pixels[t%variants][(y%p.tile*p.tile+x%p.tile)*3+b]
}

func (p *procedural) Size() int64 { return int64(len(p.head)) + p.start(p.across*p.across) }

func (p *procedural) ReadAt(b []byte, at int64) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == 0 {
		return 0, fs.ErrClosed
	}
	for n < len(b) {
		pos := at + int64(n)
		if pos >= p.Size() {
			return n, io.EOF
		}
		if pos < int64(len(p.head)) {
			n += copy(b[n:], p.head[pos:])
			continue
		}
		from := pos - int64(len(p.head))
		t := int(from/p.starts[variants]) * variants
		for p.start(t+1) <= from {
			t++
		}
		if from -= p.start(t); from == 0 {
			p.tiles[t]++
		}
		k := copy(b[n:], p.packed[t%variants][from:])
		p.bytes += k
		n += k
	}
	return n, nil
}

func (p *procedural) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	return nil
}

// take returns the tiles that were read since the last take, and their bytes.
func (p *procedural) take() (map[int]int, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, n := p.tiles, p.bytes
	p.tiles, p.bytes = map[int]int{}, 0
	return m, n
}

// scenes is a store of procedurals, in one folder.
type scenes map[string]*procedural

func (s scenes) Open(_ context.Context, name string) (store.File, error) {
	p := s[name]
	if p == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open++
	return p, nil
}

func (s scenes) Stat(_ context.Context, name string) (store.Info, error) {
	if p := s[name]; p != nil {
		return store.Info{Name: name, Size: p.Size()}, nil
	}
	for n := range s {
		if path.Dir(n) == strings.TrimSuffix(name, "/") {
			return store.Info{Name: name, Folder: true}, nil
		}
	}
	return store.Info{}, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (s scenes) List(ctx context.Context, folder string) (l []store.Info, err error) {
	for _, n := range slices.Sorted(maps.Keys(s)) {
		if path.Dir(n) == strings.TrimSuffix(folder, "/") {
			i, err := s.Stat(ctx, n)
			if err != nil {
				return nil, err
			}
			l = append(l, i)
		}
	}
	return l, nil
}

func (s scenes) Create(context.Context, string) (store.NewFile, error) {
	return nil, fs.ErrPermission
}
