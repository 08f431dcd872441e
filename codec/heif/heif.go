// Package heif decodes HEIC for package codec; importing it registers the
// format.
//
// libheif decodes the planes. It is loaded when the first HEIC file is opened,
// without cgo, and must give the planes of built-in files; HEVC is specified to
// the bit. This package converts planes to pixels, with the bytes of
// pillow-heif 1.8.1 (libheif 1.23.6, libde265). The variable [Environment]
// names the library or its folder. Without it these are searched: the program's
// folder and the folders lib in and beside it; the wheel of pillow-heif in the
// Python environment in use; conda's and the system's folders. libheif 1.23 or
// later is required: earlier versions change planes before they return them.
//
// Programs choose to import the package, because internal/clib makes them need
// the C library's loader on Linux; codec/all does not have it. Platforms
// without internal/clib refuse HEIC.
//
// The primary image is decoded. Crop, rotation and mirror of the container are
// applied, and the orientation in EXIF has no effect, as in pillow-heif. Colour
// profiles have no effect. Kinds of conversion that were not compared with
// pillow-heif are ErrUnsupported: matrix coefficients other than 1, 2, 5, 6 and
// 9, and 0 for 4:4:4 in full range; premultiplied alpha; depths other than 8,
// 10 and 12 bits. A file's matrix is known when it is decoded, not before.
//
// A crash in libheif ends the program: Go cannot recover from it.
package heif

import (
	"errors"
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
)

const name = "heif"

func init() {
	magic := make([]string, 0, 10)
	for _, brand := range []string{"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1"} {
		magic = append(magic, "????ftyp"+brand)
	}
	codec.Register(codec.Format{Name: name, Magic: magic, PillowOnly: true, New: func() codec.FormatDecoder { return new(decoder) }})
}

func unsupported(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrUnsupported, msg, args...)
}

// wrap converts an error of libheif.
func wrap(err error) error {
	kind := codec.ErrFormat
	if e := (*heifError)(nil); errors.As(err, &e) {
		switch e.code {
		case codeFiletype, codeFeature, codePlugin:
			kind = codec.ErrUnsupported
		case codeMemory:
			kind = codec.ErrLimit
		}
	}
	return codec.Errorf(name, -1, kind, "libheif: %v", err)
}

type decoder struct {
	data []byte
	o    *codec.Options
	c    codec.Config
	rows rows
}

// minSize is the least number of bytes of a file: boxes ftyp, meta and mdat.
const minSize = 32

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	d.data, d.o = data, o
	if len(data) < minSize {
		return codec.Config{}, codec.Errorf(name, int64(len(data)), codec.ErrFormat, "the file ends in its header")
	}
	l, err := load()
	if err != nil {
		return codec.Config{}, unsupported("%v", err)
	}
	f, err := l.open(data, 0, 0)
	if err != nil {
		return codec.Config{}, wrap(err)
	}
	defer f.close()
	h, err := f.header()
	if err != nil {
		return codec.Config{}, wrap(err)
	}
	if err := h.check(); err != nil {
		return codec.Config{}, err
	}
	// Crop may leave less than is decoded.
	if err := o.Limits.CheckSize(name, h.storedW, h.storedH, 1); err != nil {
		return codec.Config{}, err
	}
	d.c = codec.Config{
		Format: name, Width: h.width, Height: h.height, Mode: h.mode(), Depth: h.depth, HasAlpha: h.alpha,
		Orientation: 1, Frames: max(1, h.frames), Variant: variant(h.chroma, h.depth),
	}
	return d.c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	data, o := d.data, d.o
	d.data, d.o = nil, nil
	l, err := load()
	if err != nil {
		return unsupported("%v", err)
	}
	limits := o.Limits.WithDefaults()
	// The planes of 4:4:4 with alpha twice: before and after a rotation.
	// libheif counts what it allocates before a crop.
	sample := 1
	if d.c.Depth > 8 {
		sample = 2
	}
	if err := limits.CheckSize(name, d.c.Width, d.c.Height, d.c.Mode.Size()+2*4*sample); err != nil {
		return err
	}
	f, err := l.open(data, limits.Pixels, limits.Bytes)
	if err != nil {
		return wrap(err)
	}
	defer f.close()
	h, err := f.header()
	if err != nil {
		return wrap(err)
	}
	p, err := f.decodePlanes()
	if err != nil {
		return wrap(err)
	}
	if err := p.check(&h, &d.c); err != nil {
		return err
	}
	dst.Reset(d.c.Mode, d.c.Width, d.c.Height)
	p.convert(dst, &d.rows)
	return nil
}

// mode returns pillow-heif's mode.
func (h *header) mode() codec.Mode {
	switch {
	case h.alpha:
		return codec.RGBA
	case h.colorspace == colorspaceGray && h.depth > 8:
		return codec.I16
	case h.colorspace == colorspaceGray:
		return codec.L
	}
	return codec.RGB
}

func variant(chroma, depth int) string {
	return [...]string{"4:0:0", "4:2:0", "4:2:2", "4:4:4"}[chroma&3] + " " + strconv.Itoa(depth) + "-bit"
}

// check refuses what the header shows to be another kind than those that were
// compared with pillow-heif.
func (h *header) check() error {
	switch {
	case h.width < 1 || h.height < 1:
		return codec.Errorf(name, -1, codec.ErrFormat, "%dx%d pixels, want at least 1x1", h.width, h.height)
	case h.depth != 8 && h.depth != 10 && h.depth != 12:
		return unsupported("%d bits, want 8, 10 or 12", h.depth)
	case h.colorspace == colorspaceYCbCr && (h.chroma == chroma420 || h.chroma == chroma422 || h.chroma == chroma444):
	case h.colorspace == colorspaceRGB && h.chroma == chroma444:
	case h.colorspace == colorspaceGray && h.chroma == chromaGray:
	default:
		return unsupported("colour space %d with chroma %d of libheif, want YCbCr, RGB or gray", h.colorspace, h.chroma)
	}
	if h.alpha && h.premultiplied {
		return unsupported("premultiplied alpha")
	}
	return nil
}

// check compares the decoded planes with the header.
func (p *picture) check(h *header, c *codec.Config) error {
	bad := func(msg string, args ...any) error { return codec.Errorf(name, -1, codec.ErrFormat, msg, args...) }
	y, alpha := &p.planes[0], &p.planes[3]
	switch {
	case y.Empty() || y.Width != c.Width || y.Height != c.Height || p.bits[0] != c.Depth:
		return bad("planes of %dx%d with %d bits, the container says %dx%d with %d bits", y.Width, y.Height, p.bits[0], c.Width, c.Height, c.Depth)
	case p.colorspace != colorspaceYCbCr && p.colorspace != colorspaceGray:
		return unsupported("colour space %d of libheif, want YCbCr or gray", p.colorspace)
	case (p.colorspace == colorspaceGray) != (h.colorspace == colorspaceGray):
		return bad("colour space %d of libheif, the container says %d", p.colorspace, h.colorspace)
	case c.HasAlpha && (alpha.Empty() || alpha.Width != c.Width || alpha.Height != c.Height || p.bits[3] < 8):
		return bad("an alpha plane of %dx%d with %d bits, want %dx%d", alpha.Width, alpha.Height, p.bits[3], c.Width, c.Height)
	}
	if p.colorspace == colorspaceGray {
		return nil
	}
	switch p.matrix {
	case -1, 1, 2, 5, 6, 9:
	case 0:
		if p.chroma != chroma444 || !p.full {
			return unsupported("matrix coefficients 0 (RGB) in %s, want 4:4:4 in full range", variant(p.chroma, c.Depth))
		}
	default:
		return unsupported("matrix coefficients %d, want 0, 1, 2, 5, 6 or 9", p.matrix)
	}
	w, ht := c.Width, c.Height
	if p.chroma != chroma444 {
		w = (w + 1) / 2
	}
	if p.chroma == chroma420 {
		ht = (ht + 1) / 2
	}
	for i := 1; i < 3; i++ {
		if q := &p.planes[i]; q.Width != w || q.Height != ht || p.bits[i] != c.Depth {
			return bad("a chroma plane of %dx%d with %d bits, want %dx%d with %d bits", q.Width, q.Height, p.bits[i], w, ht, c.Depth)
		}
	}
	return nil
}
