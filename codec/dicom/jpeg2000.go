package dicom

import (
	"bytes"
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// decodeJPEG2000 decompresses a frame into d.frame, in the machine's byte
// order. The samples are those of pydicom's plugins: they have as many bits as
// the codestream says. Pixel Representation says whether gray ones are signed.
func (d *decoder) decodeJPEG2000(frame []byte) error {
	h := &d.h
	bits, signed, err := precision(frame)
	if err != nil {
		return err
	}
	switch {
	case bits > 16 || bits > int(h.allocated):
		return unsupported("JPEG 2000 samples of %d bits: want at most 16 and at most %s, %d", bits, allocatedTag, h.allocated)
	case signed && h.signed == 0:
		return unsupported("signed JPEG 2000 samples in a file of unsigned ones, of which pydicom's plugins give different values")
	case h.samples == 3 && (h.signed == 1 || signed):
		return unsupported("JPEG 2000 colours with signed samples")
	}
	i, err := d.jpeg2000.OpenNative(frame, &codec.Options{Limits: d.o.Limits})
	if err != nil {
		return err
	}
	n := i.Info()
	if n.Format != "jp2" || n.Width != int(h.columns) || n.Height != int(h.rows) || n.Channels != int(h.samples) {
		return unsupported("a %s image of %dx%d pixels, %d channels: want JPEG 2000 of %dx%d, %d", n.Format, n.Width, n.Height, n.Channels, h.columns, h.rows, h.samples)
	}
	whole := codec.Region{Width: n.Width, Height: n.Height}
	to, size := d.frame, int(h.allocated)/8
	wide := size > n.DType.Size()
	if wide {
		if need := n.Width * n.Height * n.Channels * n.DType.Size(); cap(d.narrow) < need {
			d.narrow = make([]byte, need)
		} else {
			d.narrow = d.narrow[:need]
		}
		to = d.narrow
	}
	if err := i.Decode(to, whole); err != nil {
		return err
	}
	if wide {
		widen(d.frame, d.narrow, n.DType, size)
	}
	// Palettes' indices that fill their own type are signed, too: pydicom views
	// them as such, but corrects no others.
	if unused := 8*size - bits; h.signed == 1 && !signed && unused > 0 && (!h.is("PALETTE COLOR") || bits == 8 || bits == 16) {
		dropUnused(d.frame, d.dtype, unused)
	}
	return nil
}

// precision returns the bits of the first component of a JPEG 2000 frame, as
// pydicom's get_j2k_parameters reads them. A JP2 file whose colours Pillow
// converts is an error.
func precision(b []byte) (bits int, signed bool, err error) {
	at := 0
	if bytes.HasPrefix(b, []byte("\x00\x00\x00\x0cjP  ")) {
		for at = 12; ; {
			if len(b)-at < 8 {
				return 0, false, bad(-1, "a frame that is a JP2 file without a codestream")
			}
			n := uint64(binary.BigEndian.Uint32(b[at:]))
			if string(b[at+4:at+8]) == "jp2c" {
				at += 8
				break
			}
			if n < 8 || n > uint64(len(b)-at) {
				return 0, false, bad(-1, "a frame that is a JP2 file with a box of %d bytes: %d are left", n, len(b)-at)
			}
			at += int(n)
		}
		if i := bytes.Index(b[:at], []byte("colr\x01")); i >= 0 && at-i >= 11 {
			if v := binary.BigEndian.Uint32(b[i+7:]); v != 16 && v != 17 {
				return 0, false, unsupported("a frame that is a JP2 file of colour space %d: want sRGB, 16, or gray, 17", v)
			}
		}
	}
	if len(b)-at < 43 || string(b[at:at+4]) != "\xff\x4f\xff\x51" {
		return 0, false, bad(-1, "a frame without a JPEG 2000 codestream")
	}
	v := b[at+42]
	return int(v&0x7F) + 1, v >= 0x80, nil
}

// widen makes samples of size bytes of narrower ones.
func widen(dst, src []byte, t tensor.DType, size int) {
	n := len(src) / t.Size()
	for i := range n {
		v := int64(0)
		switch t {
		case tensor.Uint8:
			v = int64(src[i])
		case tensor.Int8:
			v = int64(int8(src[i]))
		case tensor.Uint16:
			v = int64(binary.NativeEndian.Uint16(src[2*i:]))
		case tensor.Int16:
			v = int64(int16(binary.NativeEndian.Uint16(src[2*i:])))
		}
		switch size {
		case 2:
			binary.NativeEndian.PutUint16(dst[2*i:], uint16(v))
		case 4:
			binary.NativeEndian.PutUint32(dst[4*i:], uint32(v))
		case 8:
			binary.NativeEndian.PutUint64(dst[8*i:], uint64(v))
		}
	}
}
