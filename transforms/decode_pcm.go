//go:build !small

package transforms

import (
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
)

//msgp:shim sound.Encoding as:uint8 using:uint8/sound.Encoding

// DecodePCM decodes the samples of a sound without a header, such as those of a
// microphone. It takes interleaved samples (a bytes scalar) and returns float32
// (channels, samples) as DecodeSound. Bytes that are no whole sample of every
// channel are an ErrInput.
//
// The encodings are u8, s8, s16le, s16be, s24le, s24be, s32le, s32be, f32le,
// f32be, f64le, f64be, alaw and mulaw. Integers of n bits are divided by
// 2^(n-1), u8 after 128 is subtracted.
//
// Reference: libsndfile 1.2.2, as soundfile 0.14.0 reads RAW files as float32.
type DecodePCM struct {
	Encoding sound.Encoding `json:"encoding"` // of a sample; default s16le
	Channels int            `json:"channels"` // 1 to 1024; default 1
}

//msgp:tuple DecodePCM

// NewDecodePCM returns the op.
func NewDecodePCM(e sound.Encoding, channels int) *DecodePCM {
	return &DecodePCM{Encoding: e, Channels: channels}
}

// Info describes the op.
func (*DecodePCM) Info() Info {
	return Info{
		Name: "decode_pcm", Version: 1, New: func() Op { return NewDecodePCM(sound.S16LE, 1) },
		In: soundColumn, Out: soundColumn,
		Reference: "libsndfile 1.2.2 (soundfile 0.14.0), RAW to float32", Exactness: "0",
	}
}

// Validate checks the encoding and the channels.
func (o *DecodePCM) Validate() error {
	if err := checkEnum("encoding", o.Encoding, sound.EncodingNames()); err != nil {
		return err
	}
	if o.Channels < 1 || o.Channels > sound.MaxChannels {
		return paramErr("channels is %d, want 1 to %d", o.Channels, sound.MaxChannels)
	}
	return nil
}

// Infer describes a sound of an unknown number of samples.
func (o *DecodePCM) Infer(dst, in []tensor.Desc) error {
	if in[0] != tensor.Encoded() {
		return inputErr("%v, want bytes: samples without a header", in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(o.Channels, tensor.Unknown)}
	return nil
}

// InferData counts the samples.
func (o *DecodePCM) InferData(_ *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	block, n := o.Encoding.Size()*o.Channels, len(src[0].Data)
	if n%block != 0 {
		return inputErr("%d bytes, want a multiple of %d: %d channels of %v", n, block, o.Channels, o.Encoding)
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(o.Channels, n/block)}
	return nil
}

// Apply decodes the samples.
func (o *DecodePCM) Apply(c *Context, dst, src []*tensor.Tensor) error {
	planes, _ := c.State.([][]float32)
	if len(planes) != o.Channels {
		planes = make([][]float32, o.Channels)
		c.State = planes
	}
	out, n := tensor.View[float32](dst[0]), dst[0].Shape.At(1)
	for ch := range planes {
		planes[ch] = out[ch*n:][:n:n]
	}
	if n > 0 {
		o.Encoding.Convert(planes, src[0].Data)
	}
	return nil
}
