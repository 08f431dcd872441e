// Package jxl decodes JPEG XL for package codec; importing it registers the
// format.
//
// libjxl decodes the samples, or restores the JPEG file that a JPEG XL file was
// made of, which codec/jpeg then decodes. libjxl is loaded when the first JPEG
// XL file is opened, without cgo, and must decode built-in files exactly. The
// pixels are those of pillow-jxl-plugin 1.3.8 (libjxl 0.12.0) with Pillow
// 13.0.0. The variable [Environment] names the library or its folder. Without
// it these are searched: the program's folder and the folders lib in and beside
// it; the wheel of imagecodecs in the Python environment in use; conda's and
// the system's folders. Versions 0.7 to 0.12 are accepted.
//
// Programs choose to import the package, because internal/clib makes them need
// the C library's loader on Linux; codec/all does not have it. Platforms
// without internal/clib refuse JPEG XL.
//
// Files from which a JPEG can be restored, and lossless ones of 8 or 16 bits
// have the same pixels with every version of libjxl. A file is lossless if it
// is not in XYB and its frames are Modular, without filters, upsampling, noise
// and splines, and without patches if it has alpha. All others are lossy: the
// versions of libjxl give different samples. They are ErrUnsupported. Only
// codec.DamageLenient decodes them, and reports them in codec.Raster.Damaged.
//
// Gray of 16 bits has mode I;16; other samples of 16 bits keep their high byte,
// as in the plugin. The orientation of the image is applied, the one in EXIF is
// reported. Animations, layers, previews, floats, gray of 16 bits with alpha,
// and extra channels other than alpha are ErrUnsupported.
//
// A crash in libjxl ends the program: Go cannot recover from it.
package jxl

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/exif"
)

const name = "jxl"

func init() {
	codec.Register(codec.Format{
		Name: name, Magic: []string{magicCodestream, magicContainer}, PillowOnly: true,
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
	h     header
	o     *codec.Options
	c     codec.Config
	info  info
	lossy error
	wide  []byte // samples of 16 bits

	jpeg  codec.FormatDecoder // of the restored file, nil for none
	inner codec.Options
}

// Open implements codec.FormatDecoder. It restores the JPEG that the file was
// made of, which has the mode and the orientation.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	d.o, d.jpeg, d.lossy = o, nil, nil
	if err := d.h.parse(data); err != nil {
		return codec.Config{}, err
	}
	h := &d.h
	if err := o.Limits.CheckSize(name, h.width, h.height, 1); err != nil {
		return codec.Config{}, err
	}
	l, err := load()
	if err != nil {
		return codec.Config{}, unsupported("%v", err)
	}
	if d.info, err = l.info(h.codestream); err != nil {
		return codec.Config{}, err
	}
	i := &d.info
	if i.width*i.height != h.width*h.height || i.width != h.width && i.width != h.height {
		return codec.Config{}, invalid(-1, "libjxl reads %dx%d pixels, the header says %dx%d", i.width, i.height, h.width, h.height)
	}
	if err := i.check(); err != nil {
		return codec.Config{}, err
	}
	why, patches, err := frames(h.codestream[i.frame:], i)
	if err != nil {
		return codec.Config{}, err
	}
	need := i.memory(patches)
	if h.restores {
		need = restoreBytes
	}
	if err := o.Limits.CheckSize(name, h.width, h.height, need); err != nil {
		return codec.Config{}, err
	}
	if h.restores {
		return d.openJPEG(l, data)
	}
	if why != "" {
		d.lossy = unsupported("lossy (%s): versions of libjxl give different samples; the damage policy lenient decodes it", why)
		if o.Damage != codec.DamageLenient {
			return codec.Config{}, d.lossy
		}
	}
	d.c = codec.Config{
		Format: name, Width: i.width, Height: i.height, Mode: i.mode(), Depth: i.bits, HasAlpha: i.alpha,
		Orientation: 1, Frames: 1, Variant: "lossless",
	}
	if d.lossy != nil {
		d.c.Variant = "lossy"
	}
	// As the plugin, which gives Pillow the box without its offset.
	if e := h.exif; len(e) > 8 && (string(e[4:8]) == "II*\x00" || string(e[4:8]) == "MM\x00*") {
		d.c.Orientation, _ = exif.Orientation(e[4:])
	} else if len(e) > 0 {
		d.c.Orientation, _ = exif.Orientation(e)
	}
	return d.c, nil
}

// openJPEG restores the JPEG and opens it.
func (d *decoder) openJPEG(l *library, data []byte) (codec.Config, error) {
	fd := codec.NewFormatDecoder("jpeg")
	if fd == nil {
		return codec.Config{}, unsupported("a JPEG in JPEG XL: the program does not link package codec/jpeg")
	}
	file, err := l.restore(data, d.o.Limits.Bytes)
	if err != nil {
		return codec.Config{}, err
	}
	d.inner = *d.o
	d.inner.Scale = codec.ScaleFull
	c, err := fd.Open(file, &d.inner)
	if err != nil {
		return codec.Config{}, err
	}
	d.jpeg = fd
	c.Variant = "JPEG, " + c.Variant
	c.Format = name
	d.c = c
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	codestream := d.h.codestream
	d.h, d.o = header{}, nil
	if d.jpeg != nil {
		fd := d.jpeg
		d.jpeg = nil
		return fd.Decode(dst)
	}
	l, err := load()
	if err != nil {
		return unsupported("%v", err)
	}
	dst.Reset(d.c.Mode, d.c.Width, d.c.Height)
	dst.Damaged = d.lossy
	if d.info.bits <= 8 {
		return l.decode(codestream, &d.info, dst.Pix)
	}
	n := d.c.Width * d.c.Height * d.info.channels()
	if cap(d.wide) < 2*n {
		d.wide = make([]byte, 2*n)
	}
	d.wide = d.wide[:2*n]
	if err := l.decode(codestream, &d.info, d.wide); err != nil {
		return err
	}
	if d.c.Mode == codec.I16 {
		for i := 0; i < len(d.wide); i += 2 {
			binary.LittleEndian.PutUint16(dst.Pix[i:], binary.NativeEndian.Uint16(d.wide[i:]))
		}
		return nil
	}
	for i := range dst.Pix {
		dst.Pix[i] = uint8(binary.NativeEndian.Uint16(d.wide[2*i:]) >> 8)
	}
	return nil
}

// restoreBytes is the memory that libjxl takes for a pixel of a JPEG: 4:4:4
// took 17 bytes in all.
const restoreBytes = 24

// memory returns the bytes that libjxl and this package take for a pixel:
// integers and floats of each channel, patches, and the result.
func (i *info) memory(patches bool) int {
	n := 8 + (i.bits+7)/8
	if patches {
		n += 4
	}
	return i.channels()*n + i.mode().Size()
}
