package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// component is one colour component of the frame.
type component struct {
	index, id, h, v, tq int
	dcTab, acTab        int // of the current scan
	needed              bool

	// Sizes in blocks (in samples if lossless).
	wBlocks, hBlocks int
	padW, padH       int // rounded up to whole MCUs
	dw, dh           int // the plane's size in samples, without padding

	// In the current scan.
	mcuW, mcuH         int
	lastColW, lastRowH int

	// hasQuant reports that the component's first scan has fixed its table.
	hasQuant bool
	quant    [64]int16 // natural order; libjpeg's SIMD code keeps the low 16 bits
	quant16  [64]uint16

	plane
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// setup does what libjpeg does at the first SOS and when it selects its
// modules. It checks the frame and computes the sizes of the components.
func (d *decoder) setup() error {
	if d.height > maxSide || d.width > maxSide {
		return d.errorf(codec.ErrUnsupported, "%dx%d pixels, want at most %d a side", d.width, d.height, maxSide)
	}
	if d.precision != 8 {
		return d.errorf(codec.ErrUnsupported, "%d bits a sample, want 8", d.precision)
	}
	if n := len(d.comps); n != 1 && n != 3 && n != 4 {
		return d.errorf(codec.ErrUnsupported, "%d components, want 1, 3 or 4", n)
	}
	d.maxH, d.maxV = 1, 1
	for i := range d.comps {
		c := &d.comps[i]
		if c.h < 1 || c.h > maxSamp || c.v < 1 || c.v > maxSamp {
			return d.errorf(codec.ErrFormat, "sampling factors %dx%d, want 1 to %d", c.h, c.v, maxSamp)
		}
		d.maxH, d.maxV = max(d.maxH, c.h), max(d.maxV, c.v)
	}
	d.guessSpace()
	unit := d.unit()
	if d.lossless {
		if d.o.Scale != codec.ScaleFull {
			return d.errorf(codec.ErrUnsupported, "scale %v of a lossless file", d.o.Scale)
		}
		d.samples = 1
	}
	for i := range d.comps {
		c := &d.comps[i]
		c.needed = i == 0 || !d.toLuma || d.space != spaceYCC
		if c.needed && (d.maxH%c.h != 0 || d.maxV%c.v != 0) {
			return d.errorf(codec.ErrUnsupported, "sampling factors %dx%d among %dx%d: not a whole ratio", c.h, c.v, d.maxH, d.maxV)
		}
		c.wBlocks = ceilDiv(d.width*c.h, d.maxH*unit)
		c.hBlocks = ceilDiv(d.height*c.v, d.maxV*unit)
		c.padW = ceilDiv(c.wBlocks, c.h) * c.h
		c.padH = ceilDiv(c.hBlocks, c.v) * c.v
		// Subsampled components are reduced less, as far as the factors allow,
		// instead of being upsampled.
		c.samples = d.samples
		for c.samples < unit && d.maxH*d.samples%(c.h*c.samples*2) == 0 && d.maxV*d.samples%(c.v*c.samples*2) == 0 {
			c.samples *= 2
		}
		c.dw = ceilDiv(d.width*c.h*c.samples, d.maxH*unit)
		c.dh = ceilDiv(d.height*c.v*c.samples, d.maxV*unit)
		c.hasQuant = false
		c.quant, c.quant16 = [64]int16{}, [64]uint16{}
	}
	d.iMCURows = ceilDiv(d.height, d.maxV*unit)
	d.multiScan = d.nScan < len(d.comps) || d.progressive
	if d.lossless && d.space == spaceYCC {
		// Pillow asks for RGB; libjpeg does not convert lossless files.
		return d.errorf(codec.ErrUnsupported, "lossless YCbCr")
	}
	if d.lossless && d.space == spaceYCCK {
		return d.errorf(codec.ErrUnsupported, "lossless YCCK")
	}
	d.chooseUpsampling()
	return nil
}

// unit returns the side of the coded unit: a block, or a sample if lossless.
func (h *header) unit() int {
	if h.lossless {
		return 1
	}
	return 8
}

// guessSpace determines the meaning of the components as libjpeg's
// default_decompress_parms does.
func (d *decoder) guessSpace() {
	switch len(d.comps) {
	case 1:
		d.space = spaceGray
	case 3:
		a, b, c := d.comps[0].id, d.comps[1].id, d.comps[2].id
		switch {
		case d.jfif:
			d.space = spaceYCC
		case d.adobe:
			d.space = spaceYCC
			switch d.adobeTransform {
			case 0:
				d.space = spaceRGB
			case 1:
			default:
				d.warn("unknown Adobe colour transform")
			}
		case d.lossless || a == 'R' && b == 'G' && c == 'B':
			d.space = spaceRGB
		default:
			d.space = spaceYCC
		}
	default:
		d.space = spaceCMYK
		if d.adobe && d.adobeTransform != 0 {
			d.space = spaceYCCK
			if d.adobeTransform != 2 {
				d.warn("unknown Adobe colour transform")
			}
		}
	}
}

// maxNames bounds the variants that a decoder caches. Real files have a few.
const maxNames = 32

// variant returns the kind of file, for people. It caches the strings, so that
// decoding files of a few kinds allocates nothing.
func (d *decoder) variant() string {
	d.nameBuf = d.appendVariant(d.nameBuf[:0])
	name, ok := d.names[string(d.nameBuf)]
	if !ok {
		if d.names == nil || len(d.names) == maxNames {
			d.names = map[string]string{}
		}
		name = string(d.nameBuf)
		d.names[name] = name
	}
	return name
}

func (d *decoder) appendVariant(s []byte) []byte {
	switch {
	case d.lossless:
		s = append(s, "lossless"...)
	case d.arithmetic && d.progressive:
		s = append(s, "arithmetic progressive"...)
	case d.arithmetic:
		s = append(s, "arithmetic sequential"...)
	case d.progressive:
		s = append(s, "progressive"...)
	default:
		s = append(s, "baseline"...)
	}
	switch d.space {
	case spaceGray:
		return append(s, " gray"...)
	case spaceRGB:
		s = append(s, " RGB"...)
	case spaceCMYK:
		s = append(s, " CMYK"...)
	case spaceYCCK:
		s = append(s, " YCCK"...)
	}
	c := d.comps
	if c[1].h != c[2].h || c[1].v != c[2].v || c[0].h != d.maxH || c[0].v != d.maxV || len(c) == 4 && (c[3].h != c[0].h || c[3].v != c[0].v) {
		s = append(s, " "...)
		for i := range c {
			if i > 0 {
				s = append(s, ","...)
			}
			s = errfmt.Appendf(s, "%dx%d", c[i].h, c[i].v)
		}
		return s
	}
	switch fh, fv := d.maxH/c[1].h, d.maxV/c[1].v; [2]int{fh, fv} {
	case [2]int{1, 1}:
		s = append(s, " 4:4:4"...)
	case [2]int{2, 1}:
		s = append(s, " 4:2:2"...)
	case [2]int{2, 2}:
		s = append(s, " 4:2:0"...)
	case [2]int{1, 2}:
		s = append(s, " 4:4:0"...)
	case [2]int{4, 1}:
		s = append(s, " 4:1:1"...)
	case [2]int{4, 2}:
		s = append(s, " 4:1:0"...)
	case [2]int{2, 4}:
		s = append(s, " 2x4"...)
	default:
		s = errfmt.Appendf(s, " %dx%d", fh, fv)
	}
	return s
}

// scanSetup computes the values that depend on the scan's components.
func (d *decoder) scanSetup() error {
	unit := d.unit()
	d.blocksInMCU = 0
	if d.nScan == 1 {
		c := d.scan[0]
		d.mcusPerRow = c.wBlocks
		c.mcuW, c.mcuH, c.lastColW = 1, 1, 1
		c.lastRowH = c.hBlocks % c.v
		if c.lastRowH == 0 {
			c.lastRowH = c.v
		}
		d.blocksInMCU = 1
		d.member[0] = 0
		return nil
	}
	d.mcusPerRow = ceilDiv(d.width, d.maxH*unit)
	for i := range d.nScan {
		c := d.scan[i]
		c.mcuW, c.mcuH = c.h, c.v
		if c.lastColW = c.wBlocks % c.h; c.lastColW == 0 {
			c.lastColW = c.h
		}
		if c.lastRowH = c.hBlocks % c.v; c.lastRowH == 0 {
			c.lastRowH = c.v
		}
		n := c.h * c.v
		if d.blocksInMCU+n > maxMCU {
			return d.errorf(codec.ErrFormat, "an MCU of more than %d blocks", maxMCU)
		}
		for range n {
			d.member[d.blocksInMCU] = i
			d.blocksInMCU++
		}
	}
	return nil
}

// latchQuant fixes the quantization tables of the scan's components that have
// not been in an earlier scan.
func (d *decoder) latchQuant() error {
	for i := range d.nScan {
		c := d.scan[i]
		if c.hasQuant {
			continue
		}
		if c.tq >= numTables || !d.hasQuant[c.tq] {
			return d.errorf(codec.ErrFormat, "quantization table %d is not defined", c.tq)
		}
		c.hasQuant = true
		c.quant16 = d.quant[c.tq]
		for j, q := range c.quant16 {
			c.quant[j] = int16(q)
		}
	}
	return nil
}

// startScan prepares to decode the scan whose SOS was read.
func (d *decoder) startScan() error {
	if err := d.scanSetup(); err != nil {
		return err
	}
	if !d.lossless {
		if err := d.latchQuant(); err != nil {
			return err
		}
	}
	return d.startEntropy()
}

// mcuRows returns the number of rows of MCUs in a row of fully interleaved
// MCUs.
func (d *decoder) mcuRows(row int) int {
	switch {
	case d.nScan > 1:
		return 1
	case row < d.iMCURows-1:
		return d.scan[0].v
	}
	return d.scan[0].lastRowH
}
