package jp2

import (
	"encoding/binary"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
)

// component is a component of a codestream.
type component struct {
	prec   int // bits
	signed bool
	dx, dy int // reference grid points from one sample to the next
}

// bytes returns the size of a sample in OpenJPEG's tiles.
func (c *component) bytes() int {
	switch n := (c.prec + 7) / 8; n {
	case 3:
		return 4
	default:
		return n
	}
}

// size is the marker segment SIZ.
type size struct {
	x0, y0, x1, y1     uint32 // the image on the reference grid
	tx0, ty0, tdx, tdy uint32
	across, down       int // tiles
	comps              []component
	end                int // where the next marker is
}

// maxSide is the largest side of an image: Pillow's and OpenJPEG's sizes are of
// 32 bits with sign.
const maxSide = 1<<31 - 1

// maxComps is the largest number of components, which OpenNative gives.
const maxComps = 64

// parse reads SIZ, whose length is at data[at:].
func (s *size) parse(data []byte, at int) error {
	b := data[at:]
	if len(b) < 38 {
		return invalid(len(data), "the file ends in its header")
	}
	n := int(binary.BigEndian.Uint16(b))
	count := int(binary.BigEndian.Uint16(b[36:]))
	if count < 1 || count > maxComps {
		return unsupported("%d components, want 1 to %d", count, maxComps)
	}
	if n != 38+3*count || len(b) < n {
		return invalid(at, "SIZ of %d bytes for %d components, want %d", n, count, 38+3*count)
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	*s = size{x1: word(4), y1: word(8), x0: word(12), y0: word(16), tdx: word(20), tdy: word(24), tx0: word(28), ty0: word(32), end: at + n}
	switch {
	case s.x0 >= s.x1 || s.y0 >= s.y1 || s.x1 > maxSide || s.y1 > maxSide:
		return invalid(at, "an image from (%d, %d) to (%d, %d)", s.x0, s.y0, s.x1, s.y1)
	case s.tdx == 0 || s.tdy == 0 || s.tx0 > s.x0 || s.ty0 > s.y0 || uint64(s.tx0)+uint64(s.tdx) <= uint64(s.x0) || uint64(s.ty0)+uint64(s.tdy) <= uint64(s.y0):
		return invalid(at, "tiles of %dx%d from (%d, %d)", s.tdx, s.tdy, s.tx0, s.ty0)
	}
	across, down := ceil(int64(s.x1-s.tx0), int64(s.tdx)), ceil(int64(s.y1-s.ty0), int64(s.tdy))
	if across*down > 65535 || across > 65535 || down > 65535 {
		return invalid(at, "%dx%d tiles, want at most 65535", across, down)
	}
	s.across, s.down = int(across), int(down)
	for c := b[38:n]; len(c) > 0; c = c[3:] {
		p := component{prec: int(c[0]&0x7F) + 1, signed: c[0] >= 0x80, dx: int(c[1]), dy: int(c[2])}
		if p.prec > 31 || p.dx == 0 || p.dy == 0 {
			return invalid(at, "a component of %d bits at steps of %dx%d, want at most 31 bits and steps of 1 to 255", p.prec, p.dx, p.dy)
		}
		s.comps = append(s.comps, p)
	}
	return nil
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// coding is how a component is coded, what of it decides on OpenJPEG's memory.
type coding struct {
	resolutions int
	cw, ch      int // exponents of a code block's sides
	precincts   [33]uint8
}

// The markers.
const (
	markCOD = 0xFF52
	markCOC = 0xFF53
	markSOT = 0xFF90
	markSOD = 0xFF93
)

// mainMarkers are those that OpenJPEG knows in the main header.
var mainMarkers = []uint16{
	markSOT, markCOD, markCOC, 0xFF5E, 0xFF5C, 0xFF5D, 0xFF5F, 0xFF55, 0xFF57, 0xFF60, 0xFF63, 0xFF64,
	0xFF74, 0xFF78, 0xFF50, 0xFF59, 0xFF75, 0xFF77,
}

// style reads COD or COC. It returns the components that it is for, none if
// OpenJPEG refuses it, their coding, and the layers, 0 in COC.
func style(segment []byte, comps int, coc bool) (first, last int, k coding, layers int) {
	precincts := false
	if coc {
		if len(segment) < 2 || int(segment[0]) >= comps {
			return 0, 0, k, 0
		}
		first, precincts = int(segment[0]), segment[1]&1 != 0
		last, segment = first+1, segment[2:]
	} else {
		if len(segment) < 5 {
			return 0, 0, k, 0
		}
		last, layers, precincts = comps, int(binary.BigEndian.Uint16(segment[2:])), segment[0]&1 != 0
		segment = segment[5:]
	}
	if len(segment) < 5 || segment[0] > 32 || segment[1] > 8 || segment[2] > 8 {
		return 0, 0, k, 0
	}
	k.resolutions, k.cw, k.ch = int(segment[0])+1, int(segment[1])+2, int(segment[2])+2
	if precincts && len(segment) < 5+k.resolutions {
		return 0, 0, k, 0
	}
	for r := range k.resolutions {
		k.precincts[r] = 0xFF
		if precincts {
			k.precincts[r] = segment[5+r]
		}
	}
	return first, last, k, layers
}

// codings passes each COD and COC to visit, of the main header and of tiles. It
// reads markers as OpenJPEG does. Where OpenJPEG gives up, so does it.
func (s *size) codings(data []byte, visit func(first, last int, k *coding, layers int)) {
	segment := func(m uint16, b []byte) {
		if m == markCOD || m == markCOC {
			first, last, k, layers := style(b, len(s.comps), m == markCOC)
			visit(first, last, &k, layers)
		}
	}
	s.parts(data, segment, func(int) {})
}

// parts passes the segments of all headers to segment, and the tile of each
// tile-part to tile.
func (s *size) parts(data []byte, segment func(marker uint16, data []byte), tile func(int)) {
	at := s.end
	u16 := func(at int) uint16 { return binary.BigEndian.Uint16(data[at:]) }
	for len(data)-at >= 2 && u16(at) != markSOT {
		m := u16(at)
		if m < 0xFF00 {
			return
		}
		at += 2
		if !slices.Contains(mainMarkers, m) { // a marker follows somewhere
			for len(data)-at >= 2 && !slices.Contains(mainMarkers, u16(at)) {
				at += 2
			}
			continue
		}
		if len(data)-at < 2 || u16(at) < 2 || len(data)-at < int(u16(at)) {
			return
		}
		segment(m, data[at+2:at+int(u16(at))])
		at += int(u16(at))
	}
	for len(data)-at >= 12 && u16(at) == markSOT {
		tile(int(u16(at + 4)))
		length := int64(binary.BigEndian.Uint32(data[at+6:]))
		next := int64(at) + length
		at += 12
		for len(data)-at >= 4 && u16(at) != markSOD {
			m, n := u16(at), int(u16(at+2))
			if n < 2 || len(data)-at-2 < n {
				return
			}
			segment(m, data[at+4:at+2+n])
			at += 2 + n
		}
		if length == 0 || next < int64(at) || next > int64(len(data)) {
			return
		}
		at = int(next)
	}
}

// Sizes of OpenJPEG's structures in bytes, rounded up: of a tile's parameters
// and index, and of each component's; of a precinct of a subband; and of a code
// block, with its tag trees' nodes and its first segments.
const (
	tileBytes     = 9000
	tileCompBytes = 1200
	precinctBytes = 320
	blockBytes    = 640
)

const (
	minTile    = 14      // bytes of the shortest tile-part: SOT and SOD
	anyTiles   = 1 << 10 // allowed in every file
	anyPackets = 1 << 24 // allowed in every file: a second of OpenJPEG's time
)

// cost is what a component of a tile costs.
type cost struct {
	bytes     float64
	precincts float64
	most      float64 // precincts of a resolution
	deepest   int     // resolutions
}

// of returns the cost of a component of w x h samples.
func (k *coding) of(w, h int64, sample int) (c cost) {
	c.bytes, c.deepest = float64(w)*float64(h)*float64(sample), k.resolutions
	for r := range k.resolutions {
		shift := k.resolutions - 1 - r
		rw, rh := w>>shift+1, h>>shift+1
		pw, ph := int(k.precincts[r]&15), int(k.precincts[r]>>4)
		precincts := float64(rw>>pw+2) * float64(rh>>ph+2)
		bands := 1.0
		if r > 0 {
			bands, rw, rh, pw, ph = 3, rw/2+1, rh/2+1, max(pw-1, 0), max(ph-1, 0)
		}
		blocks := float64(rw>>min(pw, k.cw)+2) * float64(rh>>min(ph, k.ch)+2)
		c.bytes += bands * (precincts*precinctBytes + blocks*blockBytes)
		c.precincts += precincts
		c.most = max(c.most, precincts)
	}
	return c
}

// checkCost checks the memory that OpenJPEG will use, and this package, which
// makes pixel bytes of a pixel. It also bounds the number of packets, each of
// which has a byte at least in a whole file.
func (h *header) checkCost(data []byte, limits codec.Limits, pixel int) error {
	s := &h.siz
	limits = limits.WithDefaults()
	if err := limits.CheckSize(name, h.width, h.height, pixel); err != nil {
		return err
	}
	if limits.Bytes < 0 {
		return nil
	}
	tiles := s.across * s.down
	if tiles > anyTiles && (len(data)-s.end)/minTile < tiles/8 {
		return invalid(len(data), "%d tiles in %d bytes", tiles, len(data))
	}
	width, height := min(int64(s.tdx), int64(h.width)), min(int64(s.tdy), int64(h.height))
	worst := make([]cost, len(s.comps))
	most := 0
	s.codings(data, func(first, last int, k *coding, layers int) {
		most = max(most, layers)
		for i := first; i < last; i++ {
			c, w := &s.comps[i], &worst[i]
			n := k.of(ceil(width, int64(c.dx))+1, ceil(height, int64(c.dy))+1, 4+c.bytes())
			*w = cost{max(w.bytes, n.bytes), max(w.precincts, n.precincts), max(w.most, n.most), max(w.deepest, n.deepest)}
		}
	})
	var all cost
	for i := range worst {
		w := &worst[i]
		all = cost{all.bytes + w.bytes, all.precincts + w.precincts, max(all.most, w.most), max(all.deepest, w.deepest)}
	}
	total := float64(h.width)*float64(h.height)*float64(pixel) + float64(tiles)*float64(tileBytes+tileCompBytes*len(s.comps)) + float64(len(data)) +
		all.bytes + 2*all.most*float64(all.deepest)*float64(len(s.comps))*float64(most)
	if total > float64(limits.Bytes) {
		return codec.Errorf(name, -1, codec.ErrBytes, "%dx%d pixels of %d components need %.0f bytes, the limit is %d", h.width, h.height, len(s.comps), total, limits.Bytes)
	}
	if packets := all.precincts * float64(most) * float64(tiles); packets > float64(max(anyPackets, 64*len(data))) {
		return codec.Errorf(name, -1, codec.ErrLimit, "%.0f packets in %d bytes", packets, len(data))
	}
	return nil
}
