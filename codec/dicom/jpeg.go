package dicom

import (
	"bytes"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpeg"
)

// decodeJPEG decompresses a frame into d.frame: whole pixels in the machine's
// byte order.
func (d *decoder) decodeJPEG(frame []byte) error {
	h := &d.h
	lossless := h.syntax.coding == jpegLossless
	if h.syntax.uid == "1.2.840.10008.1.2.4.51" && h.stored != 8 {
		return unsupported("transfer syntax %s, %s of %d bits: want 8", h.syntax.uid, h.syntax.name, h.stored)
	}
	if h.samples == 3 {
		h.conform(frame)
	}
	if d.jpeg == nil {
		d.jpeg = jpeg.NewComponentDecoder()
	}
	o := codec.Options{Limits: d.o.Limits, Workers: d.o.Workers}
	if lossless {
		// Pillow does not decode these files. Its rules for headers do not
		// apply.
		o.Damage, o.Color = codec.DamageImdecode, codec.ToGray
	}
	n, err := d.jpeg.OpenNative(frame, &o)
	if err != nil {
		return err
	}
	if n.Width != int(h.columns) || n.Height != int(h.rows) || n.Channels != int(h.samples) || n.DType.Size()*8 != int(h.allocated) {
		return unsupported("a JPEG image of %dx%d pixels, %d channels of %v: want %dx%d, %d of %d bits", n.Width, n.Height, n.Channels, n.DType, h.columns, h.rows, h.samples, h.allocated)
	}
	return d.jpeg.DecodeNative(d.frame, codec.Region{Width: n.Width, Height: n.Height})
}

// conform makes the photometric interpretation that of a JPEG image, as
// pydicom's DecodeRunner._conform_jpg_colorspace does: components named RGB are
// RGB, and a JFIF image is YCbCr.
func (h *header) conform(frame []byte) {
	ids, jfif, ok := colorMarks(frame)
	switch {
	case !ok:
	case string(ids) == "RGB" || string(ids) == "rgb":
		h.photometric = []byte("RGB")
	case jfif && !bytes.Contains(h.photometric, []byte("YBR")):
		h.photometric = []byte("YBR_FULL")
	}
}

// colorMarks returns the ids of a JPEG image's components, and whether an APP
// segment is JFIF's. ok is false if the header cannot be read, as pydicom's
// _get_jpg_parameters reads it.
func colorMarks(b []byte) (ids []byte, jfif, ok bool) {
	if len(b) < 2 || b[0] != 0xFF || b[1] != 0xD8 {
		return nil, false, false
	}
	var apps [16]bool
	for at := 2; at+4 <= len(b); {
		m, n := b[at+1], int(b[at+2])<<8|int(b[at+3])
		if b[at] == 0xFF && m >= 0xC0 && m <= 0xCF && m != 0xC4 && m != 0xC8 && m != 0xCC {
			if at+10 > len(b) {
				return nil, false, false
			}
			k := int(b[at+9])
			if at+10+3*k-2 > len(b) {
				return nil, false, false
			}
			for i := range k {
				ids = append(ids, b[at+10+3*i])
			}
			for _, is := range apps {
				jfif = jfif || is
			}
			return ids, jfif, true
		}
		if b[at] == 0xFF && m >= 0xE0 && m <= 0xEF {
			apps[m-0xE0] = bytes.HasPrefix(b[min(at+4, len(b)):min(max(at+2+n, at+4), len(b))], []byte("JFIF"))
		}
		at += n + 2
	}
	return nil, false, false
}
