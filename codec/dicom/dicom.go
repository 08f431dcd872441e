// Package dicom decodes the images of DICOM files for package codec; importing
// it registers the format.
//
// The samples are those of pydicom 3.0.2, pixel_array, of one frame: in the
// type of Bits Allocated and Pixel Representation, with the unused high bits
// dropped, and YBR_FULL and YBR_FULL_422 converted to RGB. MONOCHROME1 is not
// inverted, and PALETTE COLOR gives indices. [ReadValues] gives the numbers
// that turn samples into what they mean.
//
// # What is read
//
// Files have the preamble and DICM. Transfer syntaxes are uncompressed ones
// (implicit and explicit VR, big-endian, deflated), RLE Lossless, JPEG Baseline
// and Extended of 8 bits, JPEG Lossless of 2 to 16 bits, and JPEG 2000 of 1 to
// 16 bits. Others are codec.ErrUnsupported, with name and UID. Samples have 1,
// 8, 16, 32 or 64 bits; unsigned ones of more than 16 bits are refused because
// tensors have no such type. Float and Double Float Pixel Data are read, too.
//
// JPEG Baseline and Extended have the pixels of pydicom's plugin pillow.
// pixel_array prefers pylibjpeg or gdcm if they are installed; their pixels
// differ in the last bit.
//
// JPEG 2000 needs package codec/jp2, which the program imports, and OpenJPEG.
// Signed samples in a file of unsigned ones are refused, because pydicom's
// plugins give different values.
//
// # As an 8-bit image
//
// decode, and all that expects pixels of 8 bits, takes a file only if its
// samples are the pixels to show: 8 bits, RGB or YBR_FULL, or MONOCHROME2
// without rescale, modality LUT, window and VOI LUT. Others are
// codec.ErrUnsupported: the op decode_native gives their samples.
//
// Source: DICOM PS3.3 and PS3.5, 2025; pydicom 3.0.2.
package dicom

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

const name = "dicom"

// any32 matches 32 bytes of the preamble.
const any32 = "????????????????????????????????"

func init() {
	codec.Register(codec.Format{
		Name: name, Magic: []string{any32 + any32 + any32 + any32 + magic}, PillowOnly: true, Frames: true,
		New: func() codec.FormatDecoder { return new(decoder) },
	})
}

type decoder struct {
	h     header
	o     *codec.Options
	index int // of the frame
	dtype tensor.DType

	inflater inflater
	joined   []byte // the fragments of a frame
	frame    []byte // a decompressed frame
	jpeg     codec.NativeDecoder
	jpeg2000 codec.Decoder // finds codec/jp2 if the program imports it
	narrow   []byte        // samples of a JPEG 2000 frame that are narrower than the file's
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	if err := d.open(data, o); err != nil {
		return codec.Config{}, err
	}
	if err := d.h.checkShown(); err != nil {
		return codec.Config{}, err
	}
	d.index = 0
	c := codec.Config{
		Format: name, Width: int(d.h.columns), Height: int(d.h.rows), Mode: codec.L, Depth: 8, Orientation: 1, Frames: d.h.frames,
		Variant: d.h.syntax.name,
	}
	if d.h.samples == 3 {
		c.Mode = codec.RGB
	}
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	m := codec.L
	if d.h.samples == 3 {
		m = codec.RGB
	}
	w, h := int(d.h.columns), int(d.h.rows)
	if err := d.o.Limits.CheckSize(name, w, h, m.Size()); err != nil {
		return err
	}
	dst.Reset(m, w, h)
	return d.DecodeNative(dst.Pix, codec.Region{Width: w, Height: h})
}

// OpenNative implements codec.NativeDecoder.
func (d *decoder) OpenNative(data []byte, o *codec.Options) (codec.Native, error) {
	if err := d.open(data, o); err != nil {
		return codec.Native{}, err
	}
	h := &d.h
	if d.index = o.Frame; d.index >= h.frames {
		return codec.Native{}, unsupported("frame %d: %s is %d", d.index, framesTag, h.frames)
	}
	return codec.Native{Format: name, Width: int(h.columns), Height: int(h.rows), Channels: int(h.samples), DType: d.dtype}, nil
}

// open reads the elements and checks them.
func (d *decoder) open(data []byte, o *codec.Options) error {
	d.o = o
	h := &d.h
	if err := h.parse(data, o.Limits, &d.inflater); err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return err
	}
	d.dtype = h.dtype()
	return nil
}

// dtype returns the type of the samples.
func (h *header) dtype() tensor.DType {
	switch {
	case h.pixels.tag == 0x7FE00008:
		return tensor.Float32
	case h.pixels.tag == 0x7FE00009:
		return tensor.Float64
	case h.allocated == 1 || h.allocated == 8 && h.signed == 0:
		return tensor.Uint8
	case h.allocated == 8:
		return tensor.Int8
	case h.allocated == 16 && h.signed == 0:
		return tensor.Uint16
	case h.allocated == 16:
		return tensor.Int16
	case h.allocated == 32:
		return tensor.Int32
	}
	return tensor.Int64
}

// checkShown checks that the samples are the pixels to show.
func (h *header) checkShown() error {
	what := ""
	switch {
	case h.allocated != 8 || h.stored != 8 || h.signed != 0:
		what = "samples other than unsigned ones of 8 bits"
	case h.samples == 1 && !h.is("MONOCHROME2"):
		what = string(h.photometric)
	case h.center.tag != 0 || h.width.tag != 0 || h.voi.tag != 0:
		what = "a window or a VOI LUT"
	case h.modality.tag != 0 || h.slope.tag != 0 && !isNumber(&h.slope, 1) || h.intercept.tag != 0 && !isNumber(&h.intercept, 0):
		what = "a rescale or a modality LUT"
	case h.shape.tag != 0 && string(text(h.shape.value)) != "IDENTITY":
		what = "a presentation LUT"
	default:
		return nil
	}
	return unsupported("%s as a picture of 8 bits: want RGB, YBR_FULL or MONOCHROME2 of 8 bits whose samples are shown as they are; decode_native gives the samples", what)
}
