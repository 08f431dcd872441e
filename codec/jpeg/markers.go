package jpeg

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// Marker codes, T.81 table B.1.
const (
	mTEM  = 0x01
	mSOF0 = 0xC0
	mDHT  = 0xC4
	mJPG  = 0xC8
	mDAC  = 0xCC
	mRST0 = 0xD0
	mRST7 = 0xD7
	mSOI  = 0xD8
	mEOI  = 0xD9
	mSOS  = 0xDA
	mDQT  = 0xDB
	mDNL  = 0xDC
	mDRI  = 0xDD
	mDHP  = 0xDE
	mAPP0 = 0xE0
	mCOM  = 0xFE
)

const (
	maxComps   = 10    // libjpeg's MAX_COMPONENTS
	maxScan    = 4     // components of a scan
	maxMCU     = 10    // libjpeg's D_MAX_BLOCKS_IN_MCU
	maxSide    = 65500 // libjpeg's JPEG_MAX_DIMENSION
	maxSamp    = 4     // largest sampling factor
	numTables  = 4     // Huffman and quantization tables of a kind
	arithTabs  = 16    // arithmetic conditioning tables of a kind
	blockCoefs = 64
)

// colorSpace is the meaning of the components.
type colorSpace uint8

const (
	spaceGray colorSpace = iota
	spaceYCC
	spaceRGB
	spaceCMYK
	spaceYCCK
)

// header holds the contents of the marker segments.
type header struct {
	sawSOI, sawSOF bool

	progressive, arithmetic, lossless bool

	width, height, precision int

	comps     []component
	compStore [maxComps]component
	maxH      int // largest sampling factors
	maxV      int
	iMCURows  int // rows of fully interleaved MCUs
	multiScan bool
	space     colorSpace

	jfif, adobe    bool
	adobeTransform byte

	quant           [numTables][64]uint16 // natural order
	places          *kernel.Places        // of the coefficients of the scan
	hasQuant        [numTables]bool
	dcSpec, acSpec  [numTables]huffSpec
	arithL, arithU  [arithTabs]uint8
	arithK          [arithTabs]uint8
	restartInterval int

	// The current scan.
	scans          int // SOS markers so far
	scan           [maxScan]*component
	nScan          int
	ss, se, ah, al int

	mcusPerRow  int
	blocksInMCU int
	member      [maxMCU]int // the scan's component of each block

	toLuma bool // the requested pixels have one channel
	// stored asks for components as they are stored, also of more than 8 bits
	// (NewComponentDecoder).
	stored bool

	plugin plugin
}

// reset clears the state of the last image, including its tables.
func (h *header) reset() {
	h.comps = nil
	h.hasQuant = [numTables]bool{}
	for i := range h.dcSpec {
		h.dcSpec[i].set, h.acSpec[i].set = false, false
	}
	h.startStream()
}

// startStream sets the state before an SOI. The tables stay: an abbreviated
// stream of tables may precede the stream with the image.
func (h *header) startStream() {
	h.sawSOI, h.sawSOF = false, false
	h.scans = 0
}

// readHeader reads up to the first SOS, as Pillow's plugin and libjpeg do.
func (h *header) readHeader(in *input) error {
	if err := h.plugin.begin(in); err != nil {
		return err
	}
	h.plugin.wide = h.stored
	err := h.readStreams(in)
	if err == nil {
		return nil
	}
	if first := h.plugin.rest(in.data); first != nil {
		return first
	}
	return err
}

// readStreams reads up to the first SOS as libjpeg does.
func (h *header) readStreams(in *input) error {
	for {
		sos, err := h.readMarkers(in)
		if err != nil {
			return err
		}
		if sos {
			return nil
		}
		if h.sawSOF {
			return in.errorf(codec.ErrFormat, "EOI after a frame header, want a scan")
		}
		if in.damage.Library() || in.padded() && in.pos >= len(in.data) {
			return in.errorf(codec.ErrFormat, "no image")
		}
		h.startStream()
	}
}

// readMarkers processes markers up to SOS (true) or EOI (false).
func (h *header) readMarkers(in *input) (bool, error) {
	for {
		if in.marker == 0 {
			if !h.sawSOI {
				// Garbage before the first marker is an error.
				a, err := in.u8()
				if err != nil {
					return false, err
				}
				b, err := in.u8()
				if err != nil {
					return false, err
				}
				if a != 0xFF || b != mSOI {
					return false, in.errorf(codec.ErrFormat, "starts with %02x %02x, want SOI", a, b)
				}
				in.marker = mSOI
			} else if err := in.nextMarker(); err != nil {
				return false, err
			}
		}
		m := in.marker
		if !h.plugin.done {
			if err := h.plugin.marker(in.data, m, in.pos); err != nil {
				return false, err
			}
		}
		var err error
		switch {
		case m == mSOI:
			err = h.readSOI(in)
		case m == 0xC0 || m == 0xC1:
			err = h.readSOF(in, false, false, false)
		case m == 0xC2:
			err = h.readSOF(in, true, false, false)
		case m == 0xC3:
			err = h.readSOF(in, false, false, true)
		case m == 0xC9:
			err = h.readSOF(in, false, true, false)
		case m == 0xCA:
			err = h.readSOF(in, true, true, false)
		case m == mDHT:
			err = h.readDHT(in)
		case m == mDAC:
			err = h.readDAC(in)
		case m >= mSOF0 && m <= 0xCF:
			err = in.errorf(codec.ErrUnsupported, "frame type SOF%d", m-mSOF0)
		case m == mSOS:
			err = h.readSOS(in)
		case m == mEOI:
		case m == mDQT:
			err = h.readDQT(in)
		case m == mDRI:
			err = h.readDRI(in)
		case m == mAPP0 || m == mAPP0+14:
			err = h.readApp(in, m)
		case m == mDNL || m > mAPP0 && m <= mAPP0+15 || m == mCOM:
			var n int
			if n, err = in.u16(); err == nil {
				in.skip(n - 2)
			}
		case m >= mRST0 && m <= mRST7 || m == mTEM:
		default:
			err = in.errorf(codec.ErrUnsupported, "marker ff%02x", m)
		}
		if err != nil {
			return false, err
		}
		in.marker = 0
		if m == mSOS || m == mEOI {
			return m == mSOS, nil
		}
	}
}

func (h *header) readSOI(in *input) error {
	if h.sawSOI {
		return in.errorf(codec.ErrFormat, "a second SOI")
	}
	for i := range h.arithL {
		h.arithL[i], h.arithU[i], h.arithK[i] = 0, 1, 5
	}
	h.restartInterval = 0
	h.jfif, h.adobe, h.adobeTransform = false, false, 0
	h.sawSOI = true
	return nil
}

func (h *header) readSOF(in *input, progressive, arithmetic, lossless bool) error {
	if h.sawSOF {
		return in.errorf(codec.ErrFormat, "a second frame header")
	}
	length, err := in.u16()
	if err != nil {
		return err
	}
	var b [6]byte
	if err := in.read(b[:]); err != nil {
		return err
	}
	h.progressive, h.arithmetic, h.lossless = progressive, arithmetic, lossless
	h.precision, h.height, h.width = int(b[0]), int(b[1])<<8|int(b[2]), int(b[3])<<8|int(b[4])
	n := int(b[5])
	if h.height == 0 || h.width == 0 || n == 0 {
		return in.errorf(codec.ErrFormat, "%dx%d pixels of %d components", h.width, h.height, n)
	}
	if length != 8+3*n {
		return in.errorf(codec.ErrFormat, "frame header of %d bytes, want %d for %d components", length, 8+3*n, n)
	}
	if n > maxComps {
		return in.errorf(codec.ErrUnsupported, "%d components", n)
	}
	h.comps = h.compStore[:n]
	for i := range h.comps {
		c := &h.comps[i]
		var v [3]byte
		if err := in.read(v[:]); err != nil {
			return err
		}
		c.index, c.id, c.h, c.v, c.tq = i, int(v[0]), int(v[1]>>4), int(v[1]&15), int(v[2])
	}
	h.sawSOF = true
	return nil
}

func (h *header) readSOS(in *input) error {
	if !h.sawSOF {
		return in.errorf(codec.ErrFormat, "a scan before a frame header")
	}
	length, err := in.u16()
	if err != nil {
		return err
	}
	n, err := in.u8()
	if err != nil {
		return err
	}
	if length != 2*n+6 || n < 1 || n > maxScan {
		return in.errorf(codec.ErrFormat, "scan header of %d bytes with %d components", length, n)
	}
	h.scan, h.nScan = [maxScan]*component{}, n
	for i := range n {
		id, err := in.u8()
		if err != nil {
			return err
		}
		t, err := in.u8()
		if err != nil {
			return err
		}
		// libjpeg selects a component whose place in the scan list is still
		// empty. This matters for duplicate ids.
		var c *component
		for j := range min(len(h.comps), maxScan) {
			if h.comps[j].id == id && h.scan[j] == nil {
				c = &h.comps[j]
				break
			}
		}
		if c == nil {
			return in.errorf(codec.ErrFormat, "component %d in a scan is not in the frame", id)
		}
		for j := range i {
			if h.scan[j] == c {
				return in.errorf(codec.ErrFormat, "component %d twice in a scan", id)
			}
		}
		h.scan[i] = c
		c.dcTab, c.acTab = t>>4, t&15
	}
	var b [3]byte
	if err := in.read(b[:]); err != nil {
		return err
	}
	h.ss, h.se, h.ah, h.al = int(b[0]), int(b[1]), int(b[2]>>4), int(b[2]&15)
	h.scans++
	return nil
}

func (h *header) readDHT(in *input) error {
	length, err := in.u16()
	if err != nil {
		return err
	}
	length -= 2
	for length > 16 {
		index, err := in.u8()
		if err != nil {
			return err
		}
		var s huffSpec
		count := 0
		if err := in.read(s.bits[1:]); err != nil {
			return err
		}
		for _, n := range s.bits {
			count += int(n)
		}
		length -= 17
		if count > 256 || count > length {
			return in.errorf(codec.ErrFormat, "Huffman table of %d symbols, the segment has %d bytes left", count, length)
		}
		if err := in.read(s.vals[:count]); err != nil {
			return err
		}
		length -= count
		s.set = true
		tab := &h.dcSpec
		if index&0x10 != 0 {
			index -= 0x10
			tab = &h.acSpec
		}
		if index >= numTables {
			return in.errorf(codec.ErrFormat, "Huffman table number %d, want at most %d", index, numTables-1)
		}
		tab[index] = s
	}
	if length != 0 {
		return in.errorf(codec.ErrFormat, "%d bytes too many in a DHT segment", length)
	}
	return nil
}

func (h *header) readDQT(in *input) error {
	length, err := in.u16()
	if err != nil {
		return err
	}
	length -= 2
	for length > 0 {
		n, err := in.u8()
		if err != nil {
			return err
		}
		wide := n>>4 != 0
		n &= 15
		if n >= numTables {
			return in.errorf(codec.ErrFormat, "quantization table number %d, want at most %d", n, numTables-1)
		}
		var b [2 * blockCoefs]byte
		size := blockCoefs
		if wide {
			size = len(b)
		}
		if err := in.read(b[:size]); err != nil {
			return err
		}
		for i := range blockCoefs {
			v := uint16(b[i])
			if wide {
				v = binary.BigEndian.Uint16(b[2*i:])
			}
			h.quant[n][kernel.NaturalOrder[i]] = v
		}
		h.hasQuant[n] = true
		length -= 1 + size
	}
	if length != 0 {
		return in.errorf(codec.ErrFormat, "wrong length of a DQT segment")
	}
	return nil
}

func (h *header) readDAC(in *input) error {
	length, err := in.u16()
	if err != nil {
		return err
	}
	length -= 2
	for length > 0 {
		i, err := in.u8()
		if err != nil {
			return err
		}
		v, err := in.u8()
		if err != nil {
			return err
		}
		length -= 2
		switch {
		case i >= 2*arithTabs:
			return in.errorf(codec.ErrFormat, "arithmetic conditioning table number %d, want at most %d", i, 2*arithTabs-1)
		case i >= arithTabs:
			h.arithK[i-arithTabs] = uint8(v)
		default:
			h.arithL[i], h.arithU[i] = uint8(v&15), uint8(v>>4)
			if h.arithL[i] > h.arithU[i] {
				return in.errorf(codec.ErrFormat, "arithmetic conditioning bounds %d to %d", h.arithL[i], h.arithU[i])
			}
		}
	}
	if length != 0 {
		return in.errorf(codec.ErrFormat, "wrong length of a DAC segment")
	}
	return nil
}

func (h *header) readDRI(in *input) error {
	length, err := in.u16()
	if err != nil {
		return err
	}
	if length != 4 {
		return in.errorf(codec.ErrFormat, "DRI segment of %d bytes, want 4", length)
	}
	h.restartInterval, err = in.u16()
	return err
}

// readApp reads JFIF from APP0 and Adobe from APP14.
func (h *header) readApp(in *input, m byte) error {
	length, err := in.u16()
	if err != nil {
		return err
	}
	length -= 2
	var b [14]byte
	n := max(0, min(length, len(b)))
	if err := in.read(b[:n]); err != nil {
		return err
	}
	switch {
	case m == mAPP0 && n >= 14 && string(b[:5]) == "JFIF\x00":
		h.jfif = true
		if b[5] != 1 {
			in.warn("JFIF major version is not 1")
		}
	case m == mAPP0+14 && n >= 12 && string(b[:5]) == "Adobe":
		h.adobe, h.adobeTransform = true, b[11]
	}
	in.skip(length - n)
	return nil
}
