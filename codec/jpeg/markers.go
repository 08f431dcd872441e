package jpeg

import (
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
	nextRestart    int

	meta meta
}

// reset clears the state of the last image, including its tables.
func (h *header) reset() {
	h.comps = nil
	h.hasQuant = [numTables]bool{}
	for i := range h.dcSpec {
		h.dcSpec[i].set, h.acSpec[i].set = false, false
	}
	h.startStream()
	h.meta = meta{}
}

// startStream sets the state before an SOI. The tables stay: an abbreviated
// stream of tables may precede the stream with the image.
func (h *header) startStream() {
	h.sawSOI, h.sawSOF = false, false
	h.scans = 0
}

// readHeader reads up to the first SOS.
func (d *decoder) readHeader() error {
	for {
		sos, err := d.readMarkers()
		if err != nil {
			return err
		}
		if sos {
			return nil
		}
		if d.sawSOF {
			return d.errorf(codec.ErrFormat, "EOI after a frame header, want a scan")
		}
		if d.damage.OpenCV() || d.padded() && d.pos >= len(d.data) {
			return d.errorf(codec.ErrFormat, "no image")
		}
		d.startStream()
	}
}

// readMarkers processes markers up to SOS (true) or EOI (false).
func (d *decoder) readMarkers() (bool, error) {
	for {
		if d.marker == 0 {
			if !d.sawSOI {
				// Garbage before the first marker is an error.
				a, err := d.u8()
				if err != nil {
					return false, err
				}
				b, err := d.u8()
				if err != nil {
					return false, err
				}
				if a != 0xFF || b != mSOI {
					return false, d.errorf(codec.ErrFormat, "starts with %02x %02x, want SOI", a, b)
				}
				d.marker = mSOI
			} else if err := d.nextMarker(); err != nil {
				return false, err
			}
		}
		m := d.marker
		var err error
		switch {
		case m == mSOI:
			err = d.readSOI()
		case m == 0xC0 || m == 0xC1:
			err = d.readSOF(false, false, false)
		case m == 0xC2:
			err = d.readSOF(true, false, false)
		case m == 0xC3:
			err = d.readSOF(false, false, true)
		case m == 0xC9:
			err = d.readSOF(false, true, false)
		case m == 0xCA:
			err = d.readSOF(true, true, false)
		case m == mDHT:
			err = d.readDHT()
		case m == mDAC:
			err = d.readDAC()
		case m >= mSOF0 && m <= 0xCF:
			err = d.errorf(codec.ErrUnsupported, "frame type SOF%d", m-mSOF0)
		case m == mSOS:
			err = d.readSOS()
		case m == mEOI:
		case m == mDQT:
			err = d.readDQT()
		case m == mDRI:
			err = d.readDRI()
		case m == mAPP0 || m == mAPP0+14:
			err = d.readApp(m)
		case m == mDNL || m > mAPP0 && m <= mAPP0+15 || m == mCOM:
			var n int
			if n, err = d.u16(); err == nil {
				d.skip(n - 2)
			}
		case m >= mRST0 && m <= mRST7 || m == mTEM:
		default:
			err = d.errorf(codec.ErrUnsupported, "marker ff%02x", m)
		}
		if err != nil {
			return false, err
		}
		d.marker = 0
		if m == mSOS || m == mEOI {
			return m == mSOS, nil
		}
	}
}

func (d *decoder) readSOI() error {
	if d.sawSOI {
		return d.errorf(codec.ErrFormat, "a second SOI")
	}
	for i := range d.arithL {
		d.arithL[i], d.arithU[i], d.arithK[i] = 0, 1, 5
	}
	d.restartInterval = 0
	d.jfif, d.adobe, d.adobeTransform = false, false, 0
	d.sawSOI = true
	return nil
}

func (d *decoder) readSOF(progressive, arithmetic, lossless bool) error {
	if d.sawSOF {
		return d.errorf(codec.ErrFormat, "a second frame header")
	}
	length, err := d.u16()
	if err != nil {
		return err
	}
	var b [6]int
	for i := range b {
		if b[i], err = d.u8(); err != nil {
			return err
		}
	}
	d.progressive, d.arithmetic, d.lossless = progressive, arithmetic, lossless
	d.precision, d.height, d.width = b[0], b[1]<<8|b[2], b[3]<<8|b[4]
	n := b[5]
	if d.height == 0 || d.width == 0 || n == 0 {
		return d.errorf(codec.ErrFormat, "%dx%d pixels of %d components", d.width, d.height, n)
	}
	if length != 8+3*n {
		return d.errorf(codec.ErrFormat, "frame header of %d bytes, want %d for %d components", length, 8+3*n, n)
	}
	if n > maxComps {
		return d.errorf(codec.ErrUnsupported, "%d components", n)
	}
	d.comps = d.compStore[:n]
	for i := range d.comps {
		c := &d.comps[i]
		var v [3]int
		for j := range v {
			if v[j], err = d.u8(); err != nil {
				return err
			}
		}
		c.index, c.id, c.h, c.v, c.tq = i, v[0], v[1]>>4, v[1]&15, v[2]
	}
	d.sawSOF = true
	return nil
}

func (d *decoder) readSOS() error {
	if !d.sawSOF {
		return d.errorf(codec.ErrFormat, "a scan before a frame header")
	}
	length, err := d.u16()
	if err != nil {
		return err
	}
	n, err := d.u8()
	if err != nil {
		return err
	}
	if length != 2*n+6 || n < 1 || n > maxScan {
		return d.errorf(codec.ErrFormat, "scan header of %d bytes with %d components", length, n)
	}
	d.scan, d.nScan = [maxScan]*component{}, n
	for i := range n {
		id, err := d.u8()
		if err != nil {
			return err
		}
		t, err := d.u8()
		if err != nil {
			return err
		}
		// libjpeg selects a component whose place in the scan list is still
		// empty. This matters for duplicate ids.
		var c *component
		for j := range min(len(d.comps), maxScan) {
			if d.comps[j].id == id && d.scan[j] == nil {
				c = &d.comps[j]
				break
			}
		}
		if c == nil {
			return d.errorf(codec.ErrFormat, "component %d in a scan is not in the frame", id)
		}
		for j := range i {
			if d.scan[j] == c {
				return d.errorf(codec.ErrFormat, "component %d twice in a scan", id)
			}
		}
		d.scan[i] = c
		c.dcTab, c.acTab = t>>4, t&15
	}
	var b [3]int
	for i := range b {
		if b[i], err = d.u8(); err != nil {
			return err
		}
	}
	d.ss, d.se, d.ah, d.al = b[0], b[1], b[2]>>4, b[2]&15
	d.nextRestart = 0
	d.scans++
	return nil
}

func (d *decoder) readDHT() error {
	length, err := d.u16()
	if err != nil {
		return err
	}
	length -= 2
	for length > 16 {
		index, err := d.u8()
		if err != nil {
			return err
		}
		var s huffSpec
		count := 0
		for i := 1; i <= 16; i++ {
			b, err := d.u8()
			if err != nil {
				return err
			}
			s.bits[i] = uint8(b)
			count += b
		}
		length -= 17
		if count > 256 || count > length {
			return d.errorf(codec.ErrFormat, "Huffman table of %d symbols, the segment has %d bytes left", count, length)
		}
		for i := range count {
			b, err := d.u8()
			if err != nil {
				return err
			}
			s.vals[i] = uint8(b)
		}
		length -= count
		s.set = true
		tab := &d.dcSpec
		if index&0x10 != 0 {
			index -= 0x10
			tab = &d.acSpec
		}
		if index >= numTables {
			return d.errorf(codec.ErrFormat, "Huffman table number %d, want at most %d", index, numTables-1)
		}
		tab[index] = s
	}
	if length != 0 {
		return d.errorf(codec.ErrFormat, "%d bytes too many in a DHT segment", length)
	}
	return nil
}

func (d *decoder) readDQT() error {
	length, err := d.u16()
	if err != nil {
		return err
	}
	length -= 2
	for length > 0 {
		n, err := d.u8()
		if err != nil {
			return err
		}
		wide := n>>4 != 0
		n &= 15
		if n >= numTables {
			return d.errorf(codec.ErrFormat, "quantization table number %d, want at most %d", n, numTables-1)
		}
		for i := range blockCoefs {
			var v int
			if wide {
				v, err = d.u16()
			} else {
				v, err = d.u8()
			}
			if err != nil {
				return err
			}
			d.quant[n][kernel.NaturalOrder[i]] = uint16(v)
		}
		d.hasQuant[n] = true
		length -= 65
		if wide {
			length -= 64
		}
	}
	if length != 0 {
		return d.errorf(codec.ErrFormat, "wrong length of a DQT segment")
	}
	return nil
}

func (d *decoder) readDAC() error {
	length, err := d.u16()
	if err != nil {
		return err
	}
	length -= 2
	for length > 0 {
		i, err := d.u8()
		if err != nil {
			return err
		}
		v, err := d.u8()
		if err != nil {
			return err
		}
		length -= 2
		switch {
		case i >= 2*arithTabs:
			return d.errorf(codec.ErrFormat, "arithmetic conditioning table number %d, want at most %d", i, 2*arithTabs-1)
		case i >= arithTabs:
			d.arithK[i-arithTabs] = uint8(v)
		default:
			d.arithL[i], d.arithU[i] = uint8(v&15), uint8(v>>4)
			if d.arithL[i] > d.arithU[i] {
				return d.errorf(codec.ErrFormat, "arithmetic conditioning bounds %d to %d", d.arithL[i], d.arithU[i])
			}
		}
	}
	if length != 0 {
		return d.errorf(codec.ErrFormat, "wrong length of a DAC segment")
	}
	return nil
}

func (d *decoder) readDRI() error {
	length, err := d.u16()
	if err != nil {
		return err
	}
	if length != 4 {
		return d.errorf(codec.ErrFormat, "DRI segment of %d bytes, want 4", length)
	}
	d.restartInterval, err = d.u16()
	return err
}

// readApp reads JFIF from APP0 and Adobe from APP14.
func (d *decoder) readApp(m byte) error {
	length, err := d.u16()
	if err != nil {
		return err
	}
	length -= 2
	var b [14]byte
	n := max(0, min(length, len(b)))
	for i := range n {
		v, err := d.u8()
		if err != nil {
			return err
		}
		b[i] = byte(v)
	}
	switch {
	case m == mAPP0 && n >= 14 && string(b[:5]) == "JFIF\x00":
		d.jfif = true
		if b[5] != 1 {
			d.warn("JFIF major version is not 1")
		}
	case m == mAPP0+14 && n >= 12 && string(b[:5]) == "Adobe":
		d.adobe, d.adobeTransform = true, b[11]
	}
	d.skip(length - n)
	return nil
}
