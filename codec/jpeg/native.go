//go:build !small

package jpeg

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// NewComponentDecoder returns a decoder of JPEG images that another format
// holds and whose colours it describes. Options.Color has no effect. Components
// are returned as they are stored, three of them without conversion to RGB,
// unless an Adobe marker says what they are: then they become RGB, as in
// Pillow. Images have 1 or 3 components. Lossless ones have 2 to 16 bits, in
// uint16 if there are more than 8.
func NewComponentDecoder() codec.NativeDecoder {
	d := newDecoder()
	d.head.stored = true
	return &componentDecoder{d}
}

// OpenSamples is Open for an image of old JPEG in TIFF, which package
// codec/tiff converts: three components are returned as they are stored, and
// the samples of subsampled ones are repeated. The decoder then opens no
// others.
func (d *decoder) OpenSamples(data []byte, o *codec.Options) (codec.Config, error) {
	d.head.stored, d.head.nearest = true, true
	return d.Open(data, o)
}

// componentDecoder decodes images as they are stored.
type componentDecoder struct{ *decoder }

// OpenNative implements codec.NativeDecoder.
func (c *componentDecoder) OpenNative(data []byte, o *codec.Options) (codec.Native, error) {
	config, err := c.Open(data, o)
	if err != nil {
		return codec.Native{}, err
	}
	h := &c.head
	if len(h.comps) == 4 {
		return codec.Native{}, c.in.errorf(codec.ErrUnsupported, "4 components, want 1 or 3")
	}
	n := codec.Native{Format: format, Width: config.Width, Height: config.Height, Channels: len(h.comps), DType: tensor.Uint8}
	if h.precision > 8 {
		n.DType = tensor.Uint16
	}
	return n, nil
}

// DecodeNative implements codec.NativeDecoder.
func (c *componentDecoder) DecodeNative(dst []byte, region codec.Region) error {
	defer c.release()
	if c.head.precision > 8 {
		return c.decodeWide(dst, region)
	}
	_, err := c.DecodeRows(&copier{dst, region.Top, region.Width * len(c.head.comps)}, region)
	return err
}

// copier is the RowSink that copies rows.
type copier struct {
	dst       []byte
	top, line int
}

func (c *copier) Rows(y, n int, pix []byte) { copy(c.dst[(y-c.top)*c.line:], pix[:n*c.line]) }

// decodeWide decodes a lossless image of more than 8 bits.
func (d *decoder) decodeWide(dst []byte, region codec.Region) error {
	h := &d.head
	n := int64(0)
	for i := range h.comps {
		n += h.comps[i].losslessBytes(false)
	}
	if l := d.o.Limits.Bytes; l > 0 && n > l {
		return d.in.errorf(codec.ErrBytes, "rows of %d pixels need %d bytes, the limit is %d", h.width, n, l)
	}
	d.wide, d.wideRegion = dst, region
	defer func() { d.wide = nil }()
	d.ent.allocLossless()
	if h.multiScan {
		if err := d.readScans(); err != nil {
			return err
		}
		return d.in.err
	}
	if err := d.startScan(); err != nil {
		return err
	}
	for row := range h.iMCURows {
		if err := d.losslessRow(row); err != nil {
			return err
		}
	}
	if err := d.finish(); err != nil {
		return err
	}
	return d.in.err
}

// wideRow stores row y of a component of the image.
func (d *decoder) wideRow(c *component, y int, samples []int32) {
	r := &d.wideRegion
	if y -= r.Top; y < 0 || y >= r.Height {
		return
	}
	n := len(d.head.comps)
	out := d.wide[2*(y*r.Width*n+c.index):]
	for i, v := range samples[r.Left:][:r.Width] {
		binary.NativeEndian.PutUint16(out[2*n*i:], uint16(v<<d.head.al))
	}
}
