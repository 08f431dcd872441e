// Package jp2 decodes JPEG 2000 for package codec, JP2 files and bare
// codestreams; importing it registers the format.
//
// OpenJPEG decodes the samples. It is loaded when the first JPEG 2000 file is
// opened, without cgo, and must give the samples of built-in files, lossless
// (5/3) and lossy (9/7). This package converts samples to pixels, with the
// bytes of Pillow 13.0.0 (OpenJPEG 2.5.4). The variable [Environment] names the
// library or its folder. Without it these are searched: the program's folder
// and the folders lib in and beside it; Pillow's wheel in the Python
// environment in use; conda's and the system's folders. Versions 2.5.x are
// accepted.
//
// Programs choose to import the package, because internal/clib makes them need
// the C library's loader on Linux; codec/all does not have it. Platforms
// without internal/clib refuse JPEG 2000.
//
// Tiles are decoded one after the other, as in Pillow. A crop holds a row of
// tiles, if they are in order in the file. The mode is Pillow's:
// gray of more than 8 bits is I;16, shifted up to 16 bits, and other samples of
// more than 8 bits are rounded to 8, where the highest values wrap to 0, as in
// Pillow. JP2 files of 9-bit gray have mode L, codestreams I;16. sYCC becomes
// RGB by Pillow's table. Subsampled components are read at Pillow's places.
// Resolution, ICC profiles and channel definitions have no effect. A palette
// with an alpha channel (Pillow's mode PA), and palettes of CMYK or of other
// than 3 or 4 columns, are ErrUnsupported.
//
// A crash in OpenJPEG ends the program: Go cannot recover from it.
package jp2

import "github.com/infer-prep/infer-prep/codec"

const name = "jp2"

func init() {
	codec.Register(codec.Format{
		Name: name, Magic: []string{magicJP2, magicCodestream}, PillowOnly: true,
		New: func() codec.FormatDecoder { return new(decoder) },
	})
}

func unsupported(msg string, args ...any) error {
	return codec.Errorf(name, -1, codec.ErrUnsupported, msg, args...)
}

func invalid(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

type decoder struct {
	data []byte
	o    *codec.Options
	h    header
	tile []byte       // samples of a tile
	rows [4][]byte    // of a tile's components, 8 bits a sample
	band codec.Raster // of a row of tiles
	line []byte
	size int // bytes of a sample, for OpenNative
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	if err := d.open(data, o); err != nil {
		return codec.Config{}, err
	}
	h := &d.h
	if h.mode == codec.NoMode {
		return codec.Config{}, unsupported("the header has no mode of Pillow for %d components, want 1 to 4", len(h.siz.comps))
	}
	return codec.Config{
		Format: name, Width: h.width, Height: h.height, Mode: h.mode, Depth: h.siz.comps[0].prec,
		HasAlpha: h.mode == codec.LA || h.mode == codec.RGBA || h.clear, Orientation: 1, Frames: 1, Variant: h.variant(),
	}, nil
}

// open reads the header.
func (d *decoder) open(data []byte, o *codec.Options) error {
	d.data, d.o = data, o
	if err := d.h.parse(data); err != nil {
		return err
	}
	if err := o.Limits.CheckSize(name, d.h.width, d.h.height, 1); err != nil {
		return err
	}
	if _, err := load(); err != nil {
		return unsupported("%v", err)
	}
	return nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	f, u, err := d.begin()
	if err != nil {
		return err
	}
	defer f.close()
	h := &d.h
	dst.Reset(h.mode, h.width, h.height)
	clear(dst.Pix) // a tile that the file does not have
	dst.Palette = h.palette
	for {
		t, err := f.next(&h.siz, h.width, h.height, &d.tile)
		if err != nil {
			return err
		}
		if t == nil {
			return f.end()
		}
		u.unpack(dst, t, d.tile, &d.rows)
	}
}

// begin opens the file, of which header read the header, for decoding. It
// checks the limits.
func (d *decoder) begin() (*file, *unpacker, error) {
	data, h := d.data, &d.h
	limits := d.o.Limits
	d.data, d.o = nil, nil
	l, err := load()
	if err != nil {
		return nil, nil, unsupported("%v", err)
	}
	if err := h.checkCost(data, limits, h.mode.Size()); err != nil {
		return nil, nil, err
	}
	f, err := l.open(data, h.boxed, false)
	if err != nil {
		return nil, nil, err
	}
	err = f.check(&h.siz)
	if err == nil {
		u, e := h.unpacker(f.colorSpace())
		if err = e; err == nil {
			return f, u, nil
		}
	}
	f.close()
	return nil, nil, err
}
