package wav

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
)

// headerSize is the number of bytes before the samples.
const headerSize = 44

// Encode returns a WAV file of samples, so that a graph of sound files runs on
// samples in memory. They are float32, or int16, which decode to v/32768. The
// shape is (samples) or (channels, samples), of 1 to sound.MaxChannels
// channels. rate is the sampling rate in Hz, 1 to 2147483647. Other samples and
// rates, and more than 4 GiB, are an error that wraps codec.ErrFormat.
func Encode(samples *tensor.Tensor, rate int) ([]byte, error) {
	d := samples.Desc
	tag, size := tagPCM, 2
	if d.DType == tensor.Float32 {
		tag, size = tagFloat, 4
	}
	rank := d.Shape.Rank()
	switch {
	case d.DType != tensor.Float32 && d.DType != tensor.Int16 || rank < 1 || rank > 2:
		return nil, fmt.Errorf("wav: encode: %v: want float32 or int16, (samples) or (channels, samples): %w", d, codec.ErrFormat)
	case rate < 1 || rate > math.MaxInt32:
		return nil, fmt.Errorf("wav: encode: a sampling rate of %d Hz: want 1 to %d: %w", rate, math.MaxInt32, codec.ErrFormat)
	}
	channels, n := 1, d.Shape.At(rank-1)
	if rank == 2 {
		channels = d.Shape.At(0)
	}
	if channels < 1 || channels > sound.MaxChannels {
		return nil, fmt.Errorf("wav: encode: %d channels: want 1 to %d: %w", channels, sound.MaxChannels, codec.ErrFormat)
	}
	data := d.Size()
	if data > math.MaxUint32-headerSize {
		return nil, fmt.Errorf("wav: encode: %d bytes of samples: want less than 4 GiB: %w", data, codec.ErrFormat)
	}
	if !samples.Dense() {
		samples = samples.Clone()
	}
	le := binary.LittleEndian
	b := make([]byte, 0, headerSize+int(data))
	b = le.AppendUint32(append(b, "RIFF"...), uint32(headerSize-8+data))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, uint16(tag)), uint16(channels))
	b = le.AppendUint32(le.AppendUint32(b, uint32(rate)), uint32(min(int64(rate)*int64(size*channels), math.MaxUint32)))
	b = le.AppendUint16(le.AppendUint16(b, uint16(size*channels)), uint16(8*size))
	b = le.AppendUint32(append(b, "data"...), uint32(data))
	if size == 4 {
		x := tensor.View[float32](samples)
		for i := range n {
			for c := range channels {
				b = le.AppendUint32(b, math.Float32bits(x[c*n+i]))
			}
		}
		return b, nil
	}
	x := tensor.View[int16](samples)
	for i := range n {
		for c := range channels {
			b = le.AppendUint16(b, uint16(x[c*n+i]))
		}
	}
	return b, nil
}
