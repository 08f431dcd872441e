package mobile

import (
	"fmt"
	"image"

	"github.com/infer-prep/infer-prep/codec/pixels"
)

// Input is an image or a sound for [Preprocessor.RunInto]: an encoded file, a
// bitmap, a camera frame or samples. It can be set again and keeps its memory.
// An Input that was not set is an error of RunInto.
type Input struct {
	encoded []byte
	own     []byte // the memory of images that are copied or converted
}

// NewInput returns an Input without an image.
func NewInput() *Input { return &Input{} }

// SetEncoded sets an encoded image, which it copies.
func (in *Input) SetEncoded(file []byte) (err error) {
	defer guard(&err)
	if in == nil {
		return errNull("input")
	}
	in.own = append(append(in.own[:0], 0)[:0], file...) // not nil
	in.encoded = in.own
	return nil
}

// SetBuffer sets the encoded image of size bytes from offset on in a Buffer. It
// is read by RunInto, not copied.
func (in *Input) SetBuffer(b *Buffer, offset, size int) (err error) {
	defer guard(&err)
	if in == nil {
		return errNull("input")
	}
	in.encoded, err = b.memory(offset, size)
	return err
}

// SetRGBA sets pixels of four bytes: red, green, blue and alpha, which is not
// premultiplied. It copies them. The data graph treats them as it treats a file
// of the same pixels: its Decode decides about alpha.
func (in *Input) SetRGBA(b *Buffer, f *Frame) (err error) {
	defer guard(&err)
	if in == nil {
		return errNull("input")
	}
	data, err := b.whole()
	if err != nil {
		return err
	}
	return in.setFrame(f, data)
}

// SetYUV420 sets a camera frame of three planes, 4:2:0 in BT.601 full range, as
// android.media.Image has them in format YUV_420_888. It converts them to RGB
// as libyuv does; see codec/pixels.Frame for the rule.
func (in *Input) SetYUV420(y, u, v *Buffer, f *Frame) (err error) {
	defer guard(&err)
	if in == nil {
		return errNull("input")
	}
	var data [3][]byte
	for i, b := range []*Buffer{y, u, v} {
		if data[i], err = b.whole(); err != nil {
			return err
		}
	}
	return in.setFrame(f, data[:]...)
}

// setFrame sets the pixels of one plane (RGBA) or of three (YUV).
func (in *Input) setFrame(f *Frame, data ...[]byte) error {
	if f == nil {
		return errNull("frame")
	}
	in.encoded = nil
	p := pixels.Frame{
		Width: f.Width, Height: f.Height, Rotation: f.Rotation,
		Crop:   image.Rectangle{Min: image.Pt(f.CropLeft, f.CropTop), Max: image.Pt(f.CropRight, f.CropBottom)},
		Planes: []pixels.Plane{{Data: data[0], RowStride: f.RowStride}},
	}
	for _, d := range data[1:] {
		p.Planes = append(p.Planes, pixels.Plane{Data: d, RowStride: f.ChromaRowStride, PixelStride: f.ChromaPixelStride})
	}
	b, err := p.Append(in.own[:0])
	if err != nil {
		return fmt.Errorf("mobile: %w: %w", errInput, err)
	}
	in.own, in.encoded = b, b
	return nil
}
