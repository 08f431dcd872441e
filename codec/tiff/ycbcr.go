//go:build !small

package tiff

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

const small = false

// yccToRGB holds the tables with which libtiff 4.7.2 converts YCbCr to RGB
// (TIFFYCbCrToRGBInit). JPEG does not use them.
type yccToRGB struct {
	y, crR, cbB [256]int32
	crG, cbG    [256]int32 // times 2^16
}

// Defaults of libtiff.
var (
	lumaWeights     = [3]float32{0.299, 0.587, 0.114}
	blackWhiteYCbCr = [6]float32{0, 255, 128, 255, 128, 255}
)

// floats sets dst to the values of a tag of rationals, if the file has it.
func (d *directory) floats(dst []float32, tag uint16) error {
	v, ok := d.tags[tag]
	if !ok {
		return nil
	}
	whole := v.typ == typeShort || v.typ == typeLong
	if v.len() != len(dst) || v.typ != typeRational && !whole || len(v.data) < v.n {
		return unsupported("tag %d with %d values of type %d, want %d of type RATIONAL", tag, v.len(), v.typ, len(dst))
	}
	for i := range dst {
		dst[i] = 0
		if whole {
			dst[i] = float32(v.at(i, 0))
			continue
		}
		if n, by := v.order.Uint32(v.data[8*i:]), v.order.Uint32(v.data[8*i+4:]); by != 0 {
			dst[i] = float32(n) / float32(by)
		}
	}
	return nil
}

// init computes the tables from the tags YCbCrCoefficients and
// ReferenceBlackWhite.
func (t *yccToRGB) init(d *directory) error {
	luma, bw := lumaWeights, blackWhiteYCbCr
	if err := d.floats(luma[:], tagLumaWeights); err != nil {
		return err
	}
	if err := d.floats(bw[:], tagBlackWhite); err != nil {
		return err
	}
	if luma[1] == 0 {
		return bad(-1, "YCbCrCoefficients with a weight of 0 for green")
	}
	for _, v := range bw {
		if v >= math.MaxInt32 {
			return bad(-1, "ReferenceBlackWhite with the value %v", v)
		}
	}
	fix := func(f float32) int32 {
		f = min(max(f, 0), 2)
		return int32(float64(f*(1<<16)) + 0.5)
	}
	code := func(c int32, black, white, size float32) int32 {
		span := white - black
		if span == 0 {
			span = 1
		}
		return int32(min(max(float32(c-int32(black))*size/span, -128*32), 128*32))
	}
	red, blue := 2-float32(2*luma[0]), 2-float32(2*luma[2])
	d1, d3 := fix(red), fix(blue)
	d2, d4 := -fix(float32(luma[0]*red)/luma[1]), -fix(float32(luma[2]*blue)/luma[1])
	const half = 1 << 15
	for i := range int32(256) {
		cr, cb := code(i-128, bw[4]-128, bw[5]-128, 127), code(i-128, bw[2]-128, bw[3]-128, 127)
		t.crR[i], t.cbB[i] = (d1*cr+half)>>16, (d3*cb+half)>>16
		t.crG[i], t.cbG[i] = d2*cr, d4*cb+half
		t.y[i] = code(i, bw[0], bw[1], 255)
	}
	return nil
}

// rgb writes a pixel.
func (t *yccToRGB) rgb(dst []byte, y, cb, cr byte) {
	clamp := func(v int32) byte { return byte(min(max(v, 0), 255)) }
	l := t.y[y]
	dst[0], dst[1], dst[2] = clamp(l+t.crR[cr]), clamp(l+(t.cbG[cb]+t.crG[cr])>>16), clamp(l+t.cbB[cb])
}

// setChroma sets how YCbCr that is not JPEG is packed: the luma samples of
// subX x subY pixels, row by row, then their Cb and Cr (TIFF 6.0, section 21).
func (l *layout) setChroma(t *directory) error {
	v := t.tags[tagSubsampling]
	x, y := v.at(0, 2), v.at(1, 2)
	switch {
	case v.size != 0 && (v.len() != 2 || v.typ != typeShort):
		return unsupported("tag %d with %d values of type %d, want 2 of type SHORT", tagSubsampling, v.len(), v.typ)
	case x != 1 && x != 2 && x != 4 || y != 1 && y != 2 && y != 4 || y > x && x*y != 2:
		return bad(-1, "chroma subsampling of %dx%d", x, y)
	case l.planes > 1 && x*y != 1:
		return bad(-1, "chroma subsampling of %dx%d in planes apart", x, y)
	case l.predictor != noPredictor && x*y != 1:
		return unsupported("predictor %d with chroma subsampling of %dx%d", l.predictor, x, y)
	}
	if l.planes == 1 {
		l.subX, l.subY = int(x), int(y)
	}
	return nil
}

// packed returns the bytes of a row of groups of packed YCbCr.
func (l *layout) packed() int { return (l.blockW + l.subX - 1) / l.subX * (l.subX*l.subY + 2) }

// placePacked writes w x ht pixels of a block of packed YCbCr. The rows of dst
// are stride bytes apart.
func (d *decoder) placePacked(dst, src []byte, stride, w, ht int) {
	h, t := &d.h, &d.ycc
	rowBytes, n := h.packed(), h.subX*h.subY
	if !h.tiled && rowBytes%h.subY != 0 {
		// libtiff asks for as many times the bytes of a row of pixels, rounded
		// down, and leaves zeros behind.
		clear(src[min(len(src), len(src)/rowBytes*h.subY*(rowBytes/h.subY)):])
	}
	for y := range ht {
		line, out := src[y/h.subY*rowBytes:], dst[y*stride:]
		for x := range w {
			p := line[x/h.subX*(n+2):][:n+2]
			t.rgb(out[3*x:], p[y%h.subY*h.subX+x%h.subX], p[n], p[n+1])
		}
	}
}

// convert converts a row of YCbCr whose planes are complete. Where Pillow
// itself reads YCbCr, it also converts it.
func (d *decoder) convert(row []byte) {
	if d.h.compression != none {
		for ; len(row) > 0; row = row[3:] {
			d.ycc.rgb(row, row[0], row[1], row[2])
		}
		return
	}
	gray := d.o.Color.Channels() == 1 // Y, whatever the chroma
	for ; len(row) > 0; row = row[3:] {
		if gray {
			row[1], row[2] = row[0], row[0]
		} else {
			row[0], row[1], row[2] = kernel.PillowYCCToRGB(row[0], row[1], row[2])
		}
	}
}
