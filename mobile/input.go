package mobile

import (
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/pixels"
)

// Input is an image for [Preprocessor.RunInto]: an encoded file, a bitmap or a
// camera frame. It can be set again and keeps its memory. An Input that was not
// set is an error of RunInto.
type Input struct {
	encoded []byte
	own     []byte // the memory of images that are copied or converted
}

// NewInput returns an Input without an image.
func NewInput() *Input { return &Input{} }

// SetEncoded sets an encoded image, which it copies.
func (in *Input) SetEncoded(image []byte) (err error) {
	defer guard(&err)
	in.own = append(in.own[:0], image...)
	in.encoded = in.own
	return nil
}

// SetBuffer sets the encoded image of size bytes from offset on in a Buffer. It
// is read by RunInto, not copied.
func (in *Input) SetBuffer(b *Buffer, offset, size int) (err error) {
	defer guard(&err)
	in.encoded, err = b.memory(offset, size)
	return err
}

// SetRGBA sets pixels of four bytes: red, green, blue and alpha, which is not
// premultiplied. It copies them. The data graph treats them as it treats a file
// of the same pixels.
func (in *Input) SetRGBA(b *Buffer, f *Frame) (err error) {
	defer guard(&err)
	data, err := b.memory(0, int(b.Size()))
	if err != nil {
		return err
	}
	return in.setRGBA(data, f)
}

func (in *Input) setRGBA(data []byte, f *Frame) error {
	if f == nil {
		return fmt.Errorf("mobile: frame: %w: want the size of the pixels", errInput)
	}
	if stride := f.Width * 4; f.RowStride != 0 && f.RowStride != stride || *f != (Frame{Width: f.Width, Height: f.Height, RowStride: f.RowStride}) {
		return fmt.Errorf("mobile: frame: %w: strides, crops and rotations are not there yet", errInput)
	}
	in.own = pixels.Header{Width: f.Width, Height: f.Height, Mode: codec.RGBA}.Append(in.own[:0])
	in.own = append(in.own, data...)
	in.encoded = in.own
	return nil
}

// SetYUV420 sets a camera frame of three planes, 4:2:0 in BT.601 full range,
// as android.media.Image has them in format YUV_420_888. It converts them.
func (in *Input) SetYUV420(y, u, v *Buffer, f *Frame) (err error) {
	defer guard(&err)
	return in.setYUV420(nil, nil, nil, f)
}

func (in *Input) setYUV420(y, u, v []byte, f *Frame) error {
	return fmt.Errorf("mobile: frame: %w: YUV is not there yet", errInput)
}
