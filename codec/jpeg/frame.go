package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// component is one colour component of the frame.
type component struct {
	index, id, h, v, tq int
	dcTab, acTab        int  // of the current scan
	needed              bool // for the requested pixels

	// Sizes in blocks (in samples if lossless).
	wBlocks, hBlocks int
	padW, padH       int // rounded up to whole MCUs

	// In the current scan.
	mcuW, mcuH         int
	lastColW, lastRowH int

	// hasQuant reports that the component's first scan has fixed its table.
	hasQuant bool
	quant    [64]int16 // in the order of header.places; libjpeg's SIMD code keeps the low 16 bits
	quant16  [64]uint16
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// setup does what libjpeg does at the first SOS and when it selects its
// modules. It checks the frame and computes the sizes of the components.
func (h *header) setup(in *input, o *codec.Options) error {
	if h.height > maxSide || h.width > maxSide {
		return in.errorf(codec.ErrUnsupported, "%dx%d pixels, want at most %d a side", h.width, h.height, maxSide)
	}
	if h.precision != 8 && !(h.stored && h.lossless && h.precision >= 2 && h.precision <= 16) {
		return in.errorf(codec.ErrUnsupported, "%d bits a sample, want 8", h.precision)
	}
	if n := len(h.comps); n != 1 && n != 3 && n != 4 {
		return in.errorf(codec.ErrUnsupported, "%d components, want 1, 3 or 4", n)
	}
	h.maxH, h.maxV = 1, 1
	for i := range h.comps {
		c := &h.comps[i]
		if c.h < 1 || c.h > maxSamp || c.v < 1 || c.v > maxSamp {
			return in.errorf(codec.ErrFormat, "sampling factors %dx%d, want 1 to %d", c.h, c.v, maxSamp)
		}
		h.maxH, h.maxV = max(h.maxH, c.h), max(h.maxV, c.v)
	}
	h.guessSpace(in)
	if err := h.keepStored(in); err != nil {
		return err
	}
	unit := h.unit()
	if h.lossless && o.Scale != codec.ScaleFull {
		return in.errorf(codec.ErrUnsupported, "scale %v of a lossless file", o.Scale)
	}
	for i := range h.comps {
		c := &h.comps[i]
		c.needed = i == 0 || !h.toLuma || h.space != spaceYCC
		if c.needed && (h.maxH%c.h != 0 || h.maxV%c.v != 0) {
			return in.errorf(codec.ErrUnsupported, "sampling factors %dx%d among %dx%d: not a whole ratio", c.h, c.v, h.maxH, h.maxV)
		}
		c.wBlocks = ceilDiv(h.width*c.h, h.maxH*unit)
		c.hBlocks = ceilDiv(h.height*c.v, h.maxV*unit)
		c.padW = ceilDiv(c.wBlocks, c.h) * c.h
		c.padH = ceilDiv(c.hBlocks, c.v) * c.v
		c.hasQuant = false
		c.quant, c.quant16 = [64]int16{}, [64]uint16{}
	}
	h.iMCURows = ceilDiv(h.height, h.maxV*unit)
	h.multiScan = h.nScan < len(h.comps) || h.progressive
	if h.lossless && h.space == spaceYCC {
		// Pillow asks for RGB; libjpeg does not convert lossless files.
		return in.errorf(codec.ErrUnsupported, "lossless YCbCr")
	}
	if h.lossless && h.space == spaceYCCK {
		return in.errorf(codec.ErrUnsupported, "lossless YCCK")
	}
	return nil
}

// unit returns the side of the coded unit: a block, or a sample if lossless.
func (h *header) unit() int {
	if h.lossless {
		return 1
	}
	return 8
}

// hasDC reports whether the scan has Huffman-coded or arithmetic-coded DC
// values; a refinement scan has plain bits.
func (h *header) hasDC() bool { return !h.progressive || h.ss == 0 && h.ah == 0 }

// hasAC reports whether the scan has AC coefficients.
func (h *header) hasAC() bool { return !h.progressive || h.ss != 0 }

// mode returns the mode of the image's pixels.
func (h *header) mode() codec.Mode {
	switch {
	case len(h.comps) == 1 || len(h.comps) == 3 && h.toLuma:
		return codec.L
	case len(h.comps) == 3:
		return codec.RGB
	}
	return codec.CMYK
}

// guessSpace determines the meaning of the components as libjpeg's
// default_decompress_parms does.
func (h *header) guessSpace(in *input) {
	switch len(h.comps) {
	case 1:
		h.space = spaceGray
	case 3:
		a, b, c := h.comps[0].id, h.comps[1].id, h.comps[2].id
		switch {
		case h.jfif:
			h.space = spaceYCC
		case h.adobe:
			h.space = spaceYCC
			switch h.adobeTransform {
			case 0:
				h.space = spaceRGB
			case 1:
			default:
				in.warn("unknown Adobe colour transform")
			}
		case h.lossless || a == 'R' && b == 'G' && c == 'B':
			h.space = spaceRGB
		default:
			h.space = spaceYCC
		}
	default:
		h.space = spaceCMYK
		if h.adobe && h.adobeTransform != 0 {
			h.space = spaceYCCK
			if h.adobeTransform != 2 {
				in.warn("unknown Adobe colour transform")
			}
		}
	}
}

// keepStored decides which components are returned as they are stored.
func (h *header) keepStored(in *input) error {
	if !h.stored {
		return nil
	}
	for _, c := range h.comps {
		if h.precision > 8 && (c.h != h.maxH || c.v != h.maxV) {
			return in.errorf(codec.ErrUnsupported, "%d bits a sample with subsampled components", h.precision)
		}
	}
	if len(h.comps) != 3 || h.adobe && !h.lossless {
		return nil
	}
	if h.space == spaceRGB && !h.lossless {
		// Pillow asks for YCbCr, of which libjpeg makes none.
		return in.errorf(codec.ErrUnsupported, "components named RGB without an Adobe marker")
	}
	h.space = spaceRGB
	return nil
}

// maxNames bounds the variants that a decoder caches. Real files have a few.
const maxNames = 32

// variant returns the kind of file, for people. It caches the strings, so that
// decoding files of a few kinds allocates nothing.
func (d *decoder) variant() string {
	d.nameBuf = d.head.appendVariant(d.nameBuf[:0])
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

func (h *header) appendVariant(s []byte) []byte {
	switch {
	case h.lossless:
		s = append(s, "lossless"...)
	case h.arithmetic && h.progressive:
		s = append(s, "arithmetic progressive"...)
	case h.arithmetic:
		s = append(s, "arithmetic sequential"...)
	case h.progressive:
		s = append(s, "progressive"...)
	default:
		s = append(s, "baseline"...)
	}
	switch h.space {
	case spaceGray:
		return append(s, " gray"...)
	case spaceRGB:
		s = append(s, " RGB"...)
	case spaceCMYK:
		s = append(s, " CMYK"...)
	case spaceYCCK:
		s = append(s, " YCCK"...)
	}
	c := h.comps
	if c[1].h != c[2].h || c[1].v != c[2].v || c[0].h != h.maxH || c[0].v != h.maxV || len(c) == 4 && (c[3].h != c[0].h || c[3].v != c[0].v) {
		s = append(s, " "...)
		for i := range c {
			if i > 0 {
				s = append(s, ","...)
			}
			s = errfmt.Appendf(s, "%dx%d", c[i].h, c[i].v)
		}
		return s
	}
	switch fh, fv := h.maxH/c[1].h, h.maxV/c[1].v; [2]int{fh, fv} {
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
func (h *header) scanSetup(in *input) error {
	unit := h.unit()
	h.blocksInMCU = 0
	if h.nScan == 1 {
		c := h.scan[0]
		h.mcusPerRow = c.wBlocks
		c.mcuW, c.mcuH, c.lastColW = 1, 1, 1
		c.lastRowH = c.hBlocks % c.v
		if c.lastRowH == 0 {
			c.lastRowH = c.v
		}
		h.blocksInMCU = 1
		h.member[0] = 0
		return nil
	}
	h.mcusPerRow = ceilDiv(h.width, h.maxH*unit)
	for i := range h.nScan {
		c := h.scan[i]
		c.mcuW, c.mcuH = c.h, c.v
		if c.lastColW = c.wBlocks % c.h; c.lastColW == 0 {
			c.lastColW = c.h
		}
		if c.lastRowH = c.hBlocks % c.v; c.lastRowH == 0 {
			c.lastRowH = c.v
		}
		n := c.h * c.v
		if h.blocksInMCU+n > maxMCU {
			return in.errorf(codec.ErrFormat, "an MCU of more than %d blocks", maxMCU)
		}
		for range n {
			h.member[h.blocksInMCU] = i
			h.blocksInMCU++
		}
	}
	return nil
}

// latchQuant fixes the quantization tables of the scan's components that have
// not been in an earlier scan.
func (h *header) latchQuant(in *input) error {
	for i := range h.nScan {
		c := h.scan[i]
		if c.hasQuant {
			continue
		}
		if c.tq >= numTables || !h.hasQuant[c.tq] {
			return in.errorf(codec.ErrFormat, "quantization table %d is not defined", c.tq)
		}
		c.hasQuant = true
		c.quant16 = h.quant[c.tq]
		for k, at := range kernel.NaturalOrder[:64] {
			c.quant[h.places.At(uint(k+1))] = int16(c.quant16[at])
		}
	}
	return nil
}

// startScan prepares to decode the scan whose SOS was read.
func (d *decoder) startScan() error {
	if err := d.head.scanSetup(&d.in); err != nil {
		return err
	}
	d.head.places = &kernel.NaturalPlaces
	if kernel.Pairs() && d.pairs() {
		d.head.places = &kernel.PairedPlaces
	}
	if !d.head.lossless {
		if err := d.head.latchQuant(&d.in); err != nil {
			return err
		}
	}
	return d.ent.start()
}

// pairs reports whether the scan's coefficients may be in paired order.
func (d *decoder) pairs() bool {
	h := &d.head
	if h.multiScan || h.arithmetic || h.lossless {
		return false
	}
	for i := range h.comps {
		if d.out.comp[i].samples != 8 {
			return false
		}
	}
	return true
}

// mcuRows returns the number of rows of MCUs in a row of fully interleaved
// MCUs.
func (h *header) mcuRows(row int) int {
	switch {
	case h.nScan > 1:
		return 1
	case row < h.iMCURows-1:
		return h.scan[0].v
	}
	return h.scan[0].lastRowH
}

// mcus returns the number of MCUs of the scan, if it is the only one.
func (h *header) mcus() int {
	return h.mcusPerRow * (h.mcuRows(0)*(h.iMCURows-1) + h.mcuRows(h.iMCURows-1))
}
