// Package memory reads pixels where they lie in a program's memory, such as an
// array of Python, for package codec. Importing it registers the format.
//
// Lend gives the pixels a short name in the form of an encoded image. Any graph
// runs on that name as on a file of the same pixels: the policies of decoding
// (colours, transparency, limits) apply. Rows are read in place if their pixels
// are dense, else gathered one by one; the image is never copied as a whole.
// Package codec/pixels is for pixels that a program copies anyway.
package memory

import (
	"fmt"
	"math"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
)

const (
	name  = "memory"
	magic = "\x00IPmem\x00\x01" // the last byte is the version
)

// maxSide is the most pixels of a side, as in package codec/pixels.
const maxSide = 1 << 24

// maxStride keeps sums of products of a side and a stride within 64 bits.
const maxStride = 1 << 36

func init() {
	codec.Register(codec.Format{Name: name, Magic: []string{magic}, New: func() codec.FormatDecoder { return new(decoder) }})
}

// Image describes pixels in memory. Sample c of the pixel in row y and column x
// is Data[Offset + y*Row + x*Pixel + c*Sample]. Strides are in bytes. They may
// be negative, zero, or overlap.
type Image struct {
	Width, Height int        // 1 to 2^24
	Mode          codec.Mode // L, LA, RGB or RGBA (not premultiplied)
	Data          []byte
	Offset        int
	// Row, Pixel and Sample are the distances between rows, between pixels of a
	// row and between samples of a pixel, from -2^36 to 2^36.
	Row, Pixel, Sample int
}

// lent has the images by the addresses of their names. A file with the same
// bytes lies elsewhere, so it never names an image.
var lent = struct {
	sync.RWMutex
	m map[*byte]*Image
}{m: map[*byte]*Image{}}

// Lend returns the name of an image, for use in place of an encoded image. The
// name must be passed on as it is: a copy of it names nothing. Until the caller
// calls done, the pixels must not change, and the name must not be used
// afterwards. An invalid Image is an error that wraps codec.ErrFormat.
func Lend(i Image) (encoded []byte, done func(), err error) {
	if err := i.check(); err != nil {
		return nil, nil, err
	}
	b := []byte(magic)
	key := &b[0]
	lent.Lock()
	defer lent.Unlock()
	lent.m[key] = &i
	return b, func() {
		lent.Lock()
		defer lent.Unlock()
		delete(lent.m, key)
	}, nil
}

func bad(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrFormat, "%s", fmt.Sprintf(msg, args...))
}

// Extent returns the number of bytes from the lowest address of a sample to the
// first sample of the first pixel, and that of all bytes from the lowest to the
// highest address. These are the Offset and the length of the smallest Data. It
// checks all other fields.
func (i *Image) Extent() (before, n int, err error) {
	if i.Width < 1 || i.Height < 1 || i.Width > maxSide || i.Height > maxSide {
		return 0, 0, bad("%dx%d pixels, want 1 to %d a side", i.Width, i.Height, maxSide)
	}
	switch i.Mode {
	case codec.L, codec.LA, codec.RGB, codec.RGBA:
	default:
		return 0, 0, bad("mode %v, want L, LA, RGB or RGBA", i.Mode)
	}
	low, high := int64(0), int64(0)
	for _, a := range [...]struct {
		what   string
		stride int
		n      int
	}{{"row", i.Row, i.Height}, {"pixel", i.Pixel, i.Width}, {"sample", i.Sample, i.Mode.Size()}} {
		s := int64(a.stride)
		if s < -maxStride || s > maxStride {
			return 0, 0, bad("a %s stride of %d bytes, want -%d to %d", a.what, s, int64(maxStride), int64(maxStride))
		}
		far := s * int64(a.n-1) // at most 2^60
		low, high = low+min(far, 0), high+max(far, 0)
	}
	if high-low >= math.MaxInt {
		return 0, 0, bad("strides %d, %d and %d of %dx%d pixels: want less than %d bytes", i.Row, i.Pixel, i.Sample, i.Width, i.Height, int64(math.MaxInt))
	}
	return int(-low), int(high-low) + 1, nil
}

// check validates the fields; every sample is then within Data.
func (i *Image) check() error {
	before, n, err := i.Extent()
	if err == nil && (i.Offset < before || i.Offset-before > len(i.Data)-n) {
		err = bad("strides %d, %d and %d of %dx%d pixels from byte %d lead outside of %d bytes", i.Row, i.Pixel, i.Sample, i.Width, i.Height, i.Offset, len(i.Data))
	}
	return err
}

type decoder struct {
	image *Image
	row   []byte
}

func (d *decoder) Open(data []byte, _ *codec.Options) (c codec.Config, err error) {
	d.image = nil
	lent.RLock()
	i := lent.m[&data[0]]
	lent.RUnlock()
	if i == nil || len(data) != len(magic) {
		return c, bad("the name of pixels in memory that nobody lends: want the bytes that Lend returned, not a copy")
	}
	d.image = i
	return codec.Config{
		Format: name, Width: i.Width, Height: i.Height, Mode: i.Mode, Depth: 8, Orientation: 1,
		HasAlpha: i.Mode == codec.LA || i.Mode == codec.RGBA, Frames: 1, Variant: i.Mode.String(),
	}, nil
}

func (d *decoder) Decode(dst *codec.Raster) error {
	i := d.image
	d.image = nil
	dst.Reset(i.Mode, i.Width, i.Height)
	for y := range i.Height {
		row := dst.Pix[y*dst.Stride:][:i.Width*i.Mode.Size()]
		if src := i.dense(y, 0, i.Width); src != nil {
			copy(row, src)
		} else {
			i.gather(row, y, 0)
		}
	}
	return nil
}

// DecodeRows passes the region on row by row, without a copy if its pixels are
// dense.
func (d *decoder) DecodeRows(sink codec.RowSink, r codec.Region) (damaged, err error) {
	i := d.image
	d.image = nil
	for y := r.Top; y < r.Top+r.Height; y++ {
		row := i.dense(y, r.Left, r.Width)
		if row == nil {
			if n := r.Width * i.Mode.Size(); cap(d.row) < n {
				d.row = make([]byte, n)
			}
			row = d.row[:r.Width*i.Mode.Size()]
			i.gather(row, y, r.Left)
		}
		sink.Rows(y, 1, row)
	}
	return nil, nil
}

// dense returns width pixels of row y from column left on, nil if other bytes
// lie between them.
func (i *Image) dense(y, left, width int) []byte {
	size := i.Mode.Size()
	if i.Pixel != size && width > 1 || i.Sample != 1 && size > 1 {
		return nil
	}
	return i.Data[i.Offset+y*i.Row+left*i.Pixel:][:width*size]
}

// gather copies pixels of row y from column left on, until dst is full.
func (i *Image) gather(dst []byte, y, left int) {
	at := i.Offset + y*i.Row + left*i.Pixel
	size := i.Mode.Size()
	if i.Pixel == 1 && i.Sample >= 0 && size == 3 { // planes
		n := len(dst) / 3
		r, g, b := i.Data[at:][:n], i.Data[at+i.Sample:][:n], i.Data[at+2*i.Sample:][:n]
		for x := range r {
			d := dst[3*x:][:3]
			d[0], d[1], d[2] = r[x], g[x], b[x]
		}
		return
	}
	for len(dst) >= size {
		for c := range size {
			dst[c] = i.Data[at+c*i.Sample]
		}
		dst, at = dst[size:], at+i.Pixel
	}
}
