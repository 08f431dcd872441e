package pixels

import (
	"fmt"
	"image"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// Frame is an image in memory, as cameras and bitmaps have it.
//
// YUV frames are converted to RGB as libyuv's Android420ToARGB does with
// kYuvJPEGConstants: BT.601 in full range with coefficients of 6 bits, each
// chroma sample for its two by two pixels. The pixels are those of the whole
// frame after the conversion, cut to the crop and then rotated.
type Frame struct {
	Width, Height int // 1 to 2^24
	// Planes are one plane of RGBA, of four bytes a pixel and not
	// premultiplied, or the planes Y, Cb (U) and Cr (V) of 4:2:0. The chroma
	// planes have (Width+1)/2 x (Height+1)/2 samples.
	Planes []Plane
	// Crop is the part to use, which must be within the frame. A zero Crop
	// means the whole frame.
	Crop image.Rectangle
	// Rotation is the clockwise rotation in degrees: 0, 90, 180 or 270.
	Rotation int
}

// Plane is one plane of a Frame.
type Plane struct {
	Data []byte // may end with the last sample
	// RowStride is the number of bytes from one row to the next, PixelStride
	// that from one sample to the next. A RowStride of 0 means dense rows. A
	// PixelStride of 0 means 4 for RGBA, else 1. RGBA and Y have no other; U
	// and V have 2 where they are interleaved (NV12, NV21).
	RowStride, PixelStride int
}

func invalid(msg string, args ...any) error {
	return fmt.Errorf("%s: frame: %w: %s", name, codec.ErrFormat, fmt.Sprintf(msg, args...))
}

// check validates f and returns the crop, and the planes with their strides.
func (f *Frame) check() (crop image.Rectangle, p [3]Plane, err error) {
	if f.Width < 1 || f.Height < 1 || f.Width > maxSide || f.Height > maxSide {
		return crop, p, invalid("%dx%d pixels, want 1 to %d a side", f.Width, f.Height, maxSide)
	}
	if len(f.Planes) != 1 && len(f.Planes) != 3 {
		return crop, p, invalid("%d planes, want 1 (RGBA) or 3 (YUV 4:2:0)", len(f.Planes))
	}
	switch f.Rotation {
	case 0, 90, 180, 270:
	default:
		return crop, p, invalid("rotation of %d degrees, want 0, 90, 180 or 270", f.Rotation)
	}
	whole := image.Rect(0, 0, f.Width, f.Height)
	crop = f.Crop
	if crop == (image.Rectangle{}) {
		crop = whole
	}
	if crop.Empty() || !crop.In(whole) {
		return crop, p, invalid("crop %v of %dx%d pixels, want a part of them", crop, f.Width, f.Height)
	}
	for i := range f.Planes {
		p[i] = f.Planes[i]
		w, h, least, most := f.Width, f.Height, 1, 1
		switch {
		case len(f.Planes) == 1:
			least, most = 4, 4
		case i > 0:
			w, h, most = (w+1)/2, (h+1)/2, 2
		}
		if p[i].PixelStride == 0 {
			p[i].PixelStride = least
		}
		if s := p[i].PixelStride; s < least || s > most {
			return crop, p, invalid("plane %d has a pixel stride of %d, want %d to %d", i, s, least, most)
		}
		// The last sample of a row need not be followed by its neighbours.
		row := (w-1)*p[i].PixelStride + least
		if p[i].RowStride == 0 {
			p[i].RowStride = w * p[i].PixelStride
		}
		if p[i].RowStride < row || p[i].RowStride > 4*maxSide {
			return crop, p, invalid("plane %d has a row stride of %d, want %d to %d", i, p[i].RowStride, row, 4*maxSide)
		}
		if want := int64(h-1)*int64(p[i].RowStride) + int64(row); int64(len(p[i].Data)) < want {
			return crop, p, invalid("plane %d has %d bytes, want %d or more", i, len(p[i].Data), want)
		}
	}
	if p[1].PixelStride != p[2].PixelStride {
		return crop, p, invalid("pixel strides of %d (U) and %d (V), want equal ones", p[1].PixelStride, p[2].PixelStride)
	}
	return crop, p, nil
}

// Append appends the frame's pixels to b in the encoded form of this package,
// as an image that any data graph takes: RGBA, or RGB for YUV. It allocates
// nothing if b has the capacity. The error of an invalid Frame wraps
// codec.ErrFormat, and b is unchanged.
func (f *Frame) Append(b []byte) ([]byte, error) {
	crop, planes, err := f.check()
	if err != nil {
		return b, err
	}
	p := part{planes: planes, crop: crop, size: 3}
	w, h, mode := crop.Dx(), crop.Dy(), codec.RGB
	if len(f.Planes) == 1 {
		p.size, mode = 4, codec.RGBA
	}
	line := w * p.size
	header := Header{Width: w, Height: h, Mode: mode}
	if f.Rotation%180 != 0 {
		header.Width, header.Height = h, w
	}
	start := len(b) + HeaderSize
	if n := start + h*line; cap(b) < n {
		b = append(make([]byte, 0, n), b...)
	}
	b = header.Append(b)
	b = b[:start+h*line]
	dst := b[start:]
	switch f.Rotation {
	case 0:
		for y := range h {
			p.row(dst[y*line:][:line], 0, y)
		}
	case 180:
		for y := range h {
			d := dst[(h-1-y)*line:][:line]
			p.row(d, 0, y)
			reverse(d, p.size)
		}
	default:
		p.rotate(dst, f.Rotation)
	}
	return b, nil
}

// part is the crop of a valid Frame.
type part struct {
	planes [3]Plane
	crop   image.Rectangle
	size   int // bytes of a pixel: 3 or 4
}

// row fills dst with the pixels from x on of row y of the crop.
func (p *part) row(dst []byte, x, y int) {
	x, y = x+p.crop.Min.X, y+p.crop.Min.Y
	first := &p.planes[0]
	if p.size == 4 {
		copy(dst, first.Data[y*first.RowStride+4*x:])
		return
	}
	luma := first.Data[y*first.RowStride+x:][:len(dst)/3]
	u, v := &p.planes[1], &p.planes[2]
	cu, cv := u.Data[y/2*u.RowStride+x/2*u.PixelStride:], v.Data[y/2*v.RowStride+x/2*v.PixelStride:]
	if x%2 == 1 { // the chroma sample's second pixel
		kernel.YUV420ToRGB(dst, luma[:1], cu, cv, u.PixelStride)
		if len(luma) == 1 {
			return
		}
		dst, luma, cu, cv = dst[3:], luma[1:], cu[u.PixelStride:], cv[v.PixelStride:]
	}
	kernel.YUV420ToRGB(dst, luma, cu, cv, u.PixelStride)
}

// The pixels of a tile are rotated together. Those of a column become
// neighbours, which fill whole cache lines.
const tileWidth, tileHeight = 128, 32

// rotate fills dst with the rows of the crop, rotated by 90 or 270 degrees.
func (p *part) rotate(dst []byte, rotation int) {
	const stride = 4 * tileWidth
	var tile [tileHeight * stride]byte
	w, h, size := p.crop.Dx(), p.crop.Dy(), p.size // dst has h x w pixels
	for top := 0; top < h; top += tileHeight {
		n := min(tileHeight, h-top)
		for left, next := 0, 0; left < w; left = next {
			// All tiles but the first start with a chroma sample's first pixel.
			next = min(w, left+tileWidth-(p.crop.Min.X+left)%2)
			for i := range n {
				p.row(tile[i*stride:][:(next-left)*size], left, top+i)
			}
			for x := left; x < next; x++ {
				// Column x, from the bottom up for 90 degrees, becomes row x,
				// or from the top down row w-1-x for 270.
				from, step, at := (n-1)*stride, -stride, x*h+h-top-n
				if rotation == 270 {
					from, step, at = 0, stride, (w-1-x)*h+top
				}
				from += (x - left) * size
				d := dst[at*size:][:n*size]
				if size == 4 {
					for ; len(d) >= 4; d, from = d[4:], from+step {
						copy(d[:4], tile[from:from+4])
					}
					continue
				}
				// Four bytes are copied of three: the next pixel replaces the
				// fourth.
				for ; len(d) >= 4; d, from = d[3:], from+step {
					copy(d[:4], tile[from:from+4])
				}
				copy(d, tile[from:])
			}
		}
	}
}

// reverse reverses the order of a row's pixels.
func reverse(row []byte, size int) {
	for i, j := 0, len(row)-size; i < j; i, j = i+size, j-size {
		for k := range size {
			row[i+k], row[j+k] = row[j+k], row[i+k]
		}
	}
}
