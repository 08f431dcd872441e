//go:build !small

package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// DecodeNative decodes an image to the samples that the file stores: any
// number of channels, and more than 8 bits. It takes an encoded image (a bytes
// scalar) and returns an HWC image of the dtype and the channels that its
// parameters name. A file with others is codec.ErrUnsupported, so that the ops
// that follow are checked when the graph is compiled. The height and the width
// are unknown until the header is read.
//
// TIFF gives its stored samples: 1 to 64 bands, 1 to 64 bits, signed, unsigned
// and floating point. Samples of fewer than 8 bits are not scaled,
// white-is-zero is not inverted, palettes are indices, YCbCr of JPEG becomes
// RGB. PNG gives gray and RGB of 8 and 16 bits, with or without alpha. DICOM
// gives pydicom's pixel_array: MONOCHROME1 is not inverted, palettes are
// indices, YBR becomes RGB, and neither rescale nor window is applied (package
// transforms/radiology). Other formats give gray and RGB of 8 bits. Colours are
// RGB; OpenCV's IMREAD_UNCHANGED has red and blue exchanged. The orientation is
// not applied. If a crop within the image follows directly, a compiled graph
// reads only the strips and tiles of a TIFF that the crop needs.
//
// Small builds (the C library's, npm's) decode 8 bits of up to four channels.
//
// An image that cannot be decoded or that exceeds the Context's Limits is a
// *codec.Error. The pixel limit counts those of the whole image.
//
// Reference: tifffile 2026.3.3 and GDAL 3.10.3 (rasterio 1.4.4) for TIFF;
// pydicom 3.0.2, pixel_array, for DICOM; torchvision 0.29.2, decode_image, and
// OpenCV 5.0.0.93, IMREAD_UNCHANGED, for PNG and for TIFF of up to four
// channels.
type DecodeNative struct {
	// DType is the type of the samples: uint8, int8, uint16, int16, int32,
	// int64, float16, float32 or float64. Default uint16.
	DType tensor.DType `json:"dtype"`
	// Channels is the number of samples per pixel, 1 to 64. Default 1.
	Channels int `json:"channels"`
	// Frame is the number of the frame, 0 to 2147483647: an image of a TIFF, a
	// frame of DICOM. Files of other formats have frame 0. Default 0.
	Frame int `json:"frame"`
	// Expand makes three equal channels of a gray image, as torchvision's
	// decode_image does for mode RGB. Channels is then 3. Default false.
	Expand bool `json:"expand"`
}

//msgp:tuple DecodeNative
//sheet:decode_native {"dtype": "uint8", "channels": 3}

// NewDecodeNative returns the op for images of a dtype and a number of
// channels.
func NewDecodeNative(d tensor.DType, channels int) *DecodeNative {
	return &DecodeNative{DType: d, Channels: channels}
}

// maxBands is the largest number of samples per pixel.
const maxBands = 64

// maxFrame is the largest number of frames that a DICOM file may state.
const maxFrame = 1<<31 - 1

// Info describes the op.
func (*DecodeNative) Info() Info {
	return Info{
		Name: "decode_native", Version: 1, New: func() Op { return NewDecodeNative(tensor.Uint16, 1) },
		Reference: "tifffile 2026.3.3, rasterio 1.4.4, torchvision 0.29.2 decode_image, OpenCV 5.0.0 IMREAD_UNCHANGED", Exactness: "0",
	}
}

// Validate checks the dtype and the channels.
func (o *DecodeNative) Validate() error {
	switch o.DType {
	case tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Float16, tensor.Float32, tensor.Float64:
	default:
		return paramErr("dtype is %v, want uint8, int8, uint16, int16, int32, int64, float16, float32 or float64", o.DType)
	}
	if o.Channels < 1 || o.Channels > maxBands {
		return paramErr("channels is %d, want 1 to %d", o.Channels, maxBands)
	}
	if o.Frame < 0 || o.Frame > maxFrame {
		return paramErr("frame is %d, want 0 to %d", o.Frame, maxFrame)
	}
	if o.Expand && o.Channels != 3 {
		return paramErr("channels is %d with expand, want 3", o.Channels)
	}
	return nil
}

// Infer describes an image of unknown height and width.
func (o *DecodeNative) Infer(dst, in []tensor.Desc) error {
	if in[0] != tensor.Encoded() {
		return inputErr("%v, want bytes: an encoded image", in[0])
	}
	dst[0] = tensor.Image(o.DType, tensor.HWC, tensor.Unknown, tensor.Unknown, o.Channels)
	return nil
}

// takes reports whether the op decodes such samples.
func (o *DecodeNative) takes(n codec.Native) bool {
	return n.DType == o.DType && (n.Channels == o.Channels || o.Expand && n.Channels == 1)
}

// open reads the header of src.
func (o *DecodeNative) open(c *Context, src *tensor.Tensor) (*codec.NativeImage, error) {
	s := &c.scratch.decode
	s.image, s.native, s.data = nil, nil, nil // the decoder has one image
	i, err := s.decoder.OpenNative(src.Data, &codec.Options{Limits: c.Limits, Frame: o.Frame, Workers: min(c.scratch.workers, len(src.Data)/workerBytes)})
	if err != nil {
		return nil, err
	}
	if n := i.Info(); !o.takes(n) {
		return nil, codec.Errorf(n.Format, -1, codec.ErrUnsupported, "%d channels of %v, the op decode_native wants %d of %v", n.Channels, n.DType, o.Channels, o.DType)
	}
	s.native, s.data, s.frame = i, src.Data, o.Frame
	return i, nil
}

// InferData reads the header. Apply and ApplyRegion use what it read.
func (o *DecodeNative) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	i, err := o.open(c, src[0])
	if err != nil {
		return err
	}
	n := i.Info()
	n.Channels = o.Channels
	dst[0] = n.Desc()
	return nil
}

// Apply decodes the image.
func (o *DecodeNative) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.ApplyRegion(c, dst[0].Data, codec.Region{Width: dst[0].Width(), Height: dst[0].Height()}, src[0])
}

// ApplyRegion decodes a region of the image into dst, as dense rows.
func (o *DecodeNative) ApplyRegion(c *Context, dst []byte, region codec.Region, src *tensor.Tensor) error {
	s := &c.scratch.decode
	i := s.native
	if n := len(src.Data); i == nil || n == 0 || len(s.data) != n || &s.data[0] != &src.Data[0] || !o.takes(i.Info()) || s.frame != o.Frame {
		var err error
		if i, err = o.open(c, src); err != nil {
			return err
		}
	}
	s.native, s.data = nil, nil
	if i.Info().Channels == o.Channels {
		return i.Decode(dst, region)
	}
	// The gray samples go to the end of dst, from where they are copied.
	size := o.DType.Size()
	n := region.Width * region.Height * size
	gray := dst[len(dst)-n:]
	if err := i.Decode(gray, region); err != nil {
		return err
	}
	var v [8]byte
	for at, to := 0, 0; at < n; at += size {
		copy(v[:size], gray[at:])
		for range 3 {
			to += copy(dst[to:], v[:size])
		}
	}
	return nil
}
