//go:build !small

package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
)

// DecodeSound decodes a sound file. It takes the file (a bytes scalar) and
// returns its samples, float32 (channels, samples), as torchaudio.load does. It
// supports the formats that the program imports: sound/all, or single ones such
// as sound/wav. Both sizes are unknown until the header is read.
//
// Integer samples of n bits are divided by 2^(n-1), so they are from -1 up to
// but not including 1. Floating-point samples are as stored, and may be outside
// that range.
//
// A file of another sampling rate is codec.ErrUnsupported: put ResampleSinc or
// ResamplePoly after an op that states the file's rate. So every op that
// follows can state the rate that it gets. A file that cannot be decoded or
// that exceeds the Context's Limits.Bytes is a *codec.Error.
//
// Samples of MP3 files differ from the reference's by up to 2e-6, because
// mpg123 in libsndfile computes in 32 bits. They are the same on every
// platform.
//
// Reference: libsndfile 1.2.2, as soundfile 0.14.0 reads float32.
type DecodeSound struct {
	SamplingRate int `json:"sampling_rate"` // of the file in Hz, 1 to 16777216; default 16000
}

//msgp:tuple DecodeSound

// NewDecodeSound returns the op for files of a sampling rate in Hz.
func NewDecodeSound(rate int) *DecodeSound { return &DecodeSound{SamplingRate: rate} }

// soundState is the decoder of a DecodeSound op, and the sound that it has
// open.
type soundState struct {
	decoder sound.Decoder
	header  sound.Header
	data    []byte // nil if none is open
	run     uint64 // in which data was opened
}

// soundColumn is the input and the output of ops of sounds.
var soundColumn = []string{"sound"}

// Info describes the op.
func (*DecodeSound) Info() Info {
	return Info{
		Name: "decode_sound", Version: 1, New: func() Op { return NewDecodeSound(16000) },
		In: soundColumn, Out: soundColumn,
		Reference: "libsndfile 1.2.2 (soundfile 0.14.0), float32", Exactness: "0 (MP3: 2e-6, because mpg123 computes in 32 bits)",
	}
}

// Validate checks the rate.
func (o *DecodeSound) Validate() error { return checkRate("sampling_rate", o.SamplingRate) }

// checkRate rejects a sampling rate outside 1..2^24 Hz.
func checkRate(name string, rate int) error {
	if rate < 1 || rate > maxSide {
		return paramErr("%s is %d Hz, want 1 to %d", name, rate, maxSide)
	}
	return nil
}

// Infer describes a sound of unknown channels and samples.
func (o *DecodeSound) Infer(dst, in []tensor.Desc) error {
	if in[0] != tensor.Encoded() {
		return inputErr("%v, want bytes: a sound file", in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, tensor.Unknown)}
	return nil
}

// open reads the header of src, unless it was read before in this run.
func (o *DecodeSound) open(c *Context, src *tensor.Tensor) (*soundState, error) {
	s, _ := c.State.(*soundState)
	if s == nil {
		s = &soundState{}
		c.State = s
	}
	// Within a run the data of an input does not change.
	if n := len(src.Data); n > 0 && len(s.data) == n && &s.data[0] == &src.Data[0] && s.run == c.scratch.run && s.run != 0 {
		return s, nil
	}
	s.data = nil
	h, err := s.decoder.Open(src.Data, c.Limits)
	if err != nil {
		return nil, err
	}
	if h.Rate != o.SamplingRate {
		return nil, codec.Errorf(h.Format, -1, codec.ErrUnsupported,
			"the sampling rate is %d Hz, the op decode_sound wants %d Hz; to resample, state %d there and let resample_sinc or resample_poly follow", h.Rate, o.SamplingRate, h.Rate)
	}
	s.header, s.data, s.run = h, src.Data, c.scratch.run
	return s, nil
}

// InferData reads the header. Apply uses what it read.
func (o *DecodeSound) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	s, err := o.open(c, src[0])
	if err != nil {
		return err
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(s.header.Channels, int(s.header.Samples))}
	return nil
}

// Apply decodes the sound.
func (o *DecodeSound) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := o.open(c, src[0])
	if err != nil {
		return err
	}
	s.data = nil
	return s.decoder.Decode(tensor.View[float32](dst[0]))
}
