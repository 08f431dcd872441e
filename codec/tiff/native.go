//go:build !small

package tiff

import (
	"io"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// OpenNative implements codec.NativeDecoder.
func (d *decoder) OpenNative(data []byte, o *codec.Options) (codec.Native, error) {
	d.native = nil
	r, err := newReader(file{data: data, size: int64(len(data))}, o.Limits, o.Workers, &d.readers)
	if err != nil {
		return codec.Native{}, err
	}
	i, err := r.Image(o.Frame)
	if err == io.EOF {
		return codec.Native{}, unsupported("frame %d: the file has fewer images", o.Frame)
	}
	if err != nil {
		return codec.Native{}, err
	}
	f, err := i.Info()
	if err != nil {
		return codec.Native{}, err
	}
	if f.DType == tensor.Invalid {
		return codec.Native{}, unsupported("samples of type %s, which tensors do not have", f.Type)
	}
	d.native = i
	return codec.Native{Format: name, Width: f.Width, Height: f.Height, Channels: f.Bands, DType: f.DType}, nil
}

// DecodeNative implements codec.NativeDecoder.
func (d *decoder) DecodeNative(dst []byte, region codec.Region) error {
	err := d.native.Read(dst, region)
	d.native.r.file.data = nil
	return err
}
