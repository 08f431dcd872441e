// Package avif decodes AVIF for package codec; importing it registers the
// format.
//
// libavif decodes the planes. It is loaded when the first AVIF file is opened,
// without cgo, and must give the planes of built-in files; AV1 is specified to
// the bit. This package converts planes to pixels, with the bytes of Pillow
// 13.0.0 (libavif 1.4.2, libyuv 1924). The variable [Environment] names the
// library or its folder. Without it these are searched: the program's folder
// and the folders lib in and beside it; Pillow's wheel in the Python
// environment in use; conda's and the system's folders. Versions 0.11 (Debian
// 12) and 1.0 to 1.4 are accepted.
//
// Programs choose to import the package, because internal/clib makes them need
// the C library's loader on Linux; codec/all does not have it. Platforms
// without internal/clib refuse AVIF.
//
// The first frame of an animation is decoded; package codec/animation has all
// of them. The boxes irot and imir become
// the orientation. Colour profiles have no effect, as in Pillow. Kinds of
// conversion that were not compared with Pillow are ErrUnsupported: matrix
// coefficients other than 1, 2, 5, 6 and 9, and 0 for 8-bit 4:4:4 in full
// range; premultiplied alpha; gray with alpha in more than 8 bits.
//
// If the AV1 image has another size than the container says, libavif scales its
// planes. The pixels are then those of Pillow with the same version of libavif.
//
// A crash in libavif ends the program: Go cannot recover from it.
package avif

import (
	"errors"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
)

const name = "avif"

func init() {
	magic := []string{"????ftypavif", "????ftypavis"}
	// Files of the general brand mif1 that list avif among the compatible
	// brands. HEIF has the others.
	for at := "????ftypmif1????"; len(at) <= 60; at += "????" {
		magic = append(magic, at+"avif")
	}
	codec.Register(codec.Format{Name: name, Magic: magic, PillowOnly: true, New: func() codec.FormatDecoder { return new(decoder) }})
}

func unsupported(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrUnsupported, msg, args...)
}

// wrap converts an error of libavif.
func wrap(err error) error {
	kind := codec.ErrFormat
	if e := (*resultError)(nil); errors.As(err, &e) {
		switch e.code {
		case resultDepth, resultNoCodec, resultNotImplemented:
			kind = codec.ErrUnsupported
		case resultMemory:
			kind = codec.ErrLimit
		}
	}
	return codec.Errorf(name, -1, kind, "libavif: %v", err)
}

type decoder struct {
	data []byte
	o    *codec.Options
	c    codec.Config
	rows rows
	sequence
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
	f, err := l.open(data, 0)
	if err != nil {
		return codec.Config{}, wrap(err)
	}
	defer f.close()
	p := f.image()
	if err := p.check(); err != nil {
		return codec.Config{}, err
	}
	d.c = codec.Config{
		Format: name, Width: p.width, Height: p.height, Mode: p.mode(), Depth: p.depth, HasAlpha: p.alpha,
		Orientation: p.orientation, Frames: max(1, p.frames), Variant: p.variant(),
	}
	if p.orientation == 1 {
		// irot and imir overwrite a tag in EXIF. Pillow asks XMP only if there
		// is none.
		if _, found := exif.Orientation(p.exif); !found {
			d.c.Orientation = exif.XMPOrientation(p.xmp)
		}
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
	// The planes twice: as the AV1 decoder has them, and joined from a grid's
	// tiles.
	pixels, err := checkMemory(&d.c, o.Limits, 1)
	if err != nil {
		return err
	}
	f, err := l.open(data, pixels)
	if err != nil {
		return wrap(err)
	}
	defer f.close()
	return d.frame(f, &d.c, dst)
}

// checkMemory checks that the pixels of an image and the planes of 4:4:4 with
// alpha, of it and of some more frames, are within the limits. It returns the
// limit for libavif, because AV1 may have another size than the container says.
func checkMemory(c *codec.Config, limits codec.Limits, more int) (pixels int64, err error) {
	limits = limits.WithDefaults()
	sample := 1
	if c.Depth > 8 {
		sample = 2
	}
	if err := limits.CheckSize(name, c.Width, c.Height, c.Mode.Size()+(1+more)*4*sample); err != nil {
		return 0, err
	}
	pixels = limits.Pixels
	if most := limits.Bytes / int64(4*sample*max(more, 1)); limits.Bytes > 0 && (pixels <= 0 || most < pixels) {
		pixels = most
	}
	return pixels, nil
}

// frame decodes the next frame, which must be what c says.
func (d *decoder) frame(f *file, c *codec.Config, dst *codec.Raster) error {
	if err := f.decode(); err != nil {
		return wrap(err)
	}
	p := f.image()
	if err := p.check(); err != nil {
		return err
	}
	if p.width != c.Width || p.height != c.Height || p.depth != c.Depth || p.mode() != c.Mode {
		return codec.Errorf(name, -1, codec.ErrFormat, "an AV1 image of %dx%d %v with %d bits, the container says %dx%d %v with %d bits",
			p.width, p.height, p.mode(), p.depth, c.Width, c.Height, c.Mode, c.Depth)
	}
	if !p.complete() {
		return codec.Errorf(name, -1, codec.ErrFormat, "libavif gives no planes of %s", p.variant())
	}
	dst.Reset(p.mode(), p.width, p.height)
	p.convert(dst, &d.rows)
	return nil
}

// matrices that have kernels, with kernels that were compared with Pillow's.
var matrices = []int{0, 1, 2, 5, 6, 9}

// check refuses images whose conversion was not compared with Pillow's.
func (p *picture) check() error {
	switch {
	case p.width < 1 || p.height < 1:
		return codec.Errorf(name, -1, codec.ErrFormat, "%dx%d pixels, want at least 1x1", p.width, p.height)
	case p.depth != 8 && p.depth != 10 && p.depth != 12:
		return unsupported("%d bits, want 8, 10 or 12", p.depth)
	case p.format < yuv444 || p.format > yuv400:
		return unsupported("pixel format %d of libavif, want 4:4:4, 4:2:2, 4:2:0 or gray", p.format)
	case !slices.Contains(matrices, p.matrix):
		return unsupported("matrix coefficients %d, want 0, 1, 2, 5, 6 or 9", p.matrix)
	case p.matrix == 0 && (p.depth != 8 || p.format != yuv444 || !p.full):
		return unsupported("matrix coefficients 0 (RGB) in %s, want 8 bits, 4:4:4 and full range", p.variant())
	case p.alpha && p.premultiplied:
		return unsupported("premultiplied alpha")
	case p.alpha && p.format == yuv400 && p.depth != 8:
		return unsupported("gray with alpha in %d bits, want 8", p.depth)
	}
	return nil
}
