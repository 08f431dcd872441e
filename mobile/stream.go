package mobile

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
)

// encoding parses the name of an encoding that the bindings have: those of
// android.media.AudioFormat.
func encoding(name string) (sound.Encoding, error) {
	switch name {
	case "u8":
		return sound.U8, nil
	case "s16le":
		return sound.S16LE, nil
	case "f32le":
		return sound.F32LE, nil
	}
	return 0, fmt.Errorf("mobile: encoding %q: %w: want u8, s16le or f32le", name, errInput)
}

// SetSamples sets a sound without a file: size bytes from offset on in a
// Buffer, which it copies. They are interleaved samples of an encoding, "s16le"
// (divided by 32768), "f32le" or "u8" ((v-128)/128), of 1 to 1024 channels and
// a rate in Hz. A graph treats them as it treats a WAV file of them: another
// rate than that of its decode_sound is an error of code "unsupported".
func (in *Input) SetSamples(b *Buffer, offset, size int, encodingName string, rate, channels int) (err error) {
	defer guard(&err)
	if in == nil {
		return errNull("input")
	}
	data, err := b.memory(offset, size)
	if err != nil {
		return err
	}
	e, err := encoding(encodingName)
	if err != nil {
		return err
	}
	if err := checkSamples(rate, channels); err != nil {
		return err
	}
	block := e.Size() * channels
	if len(data)%block != 0 || int64(len(data)) > math.MaxUint32-36 {
		return fmt.Errorf("mobile: samples of %d bytes: %w: want a multiple of %d, %d channels of %v, below 4 GiB", len(data), errInput, block, channels, e)
	}
	kind := 1
	if e == sound.F32LE {
		kind = 3
	}
	le := binary.LittleEndian
	f := append(in.own[:0], "RIFF"...)
	f = le.AppendUint32(f, uint32(36+len(data)))
	f = append(f, "WAVEfmt "...)
	f = le.AppendUint32(f, 16)
	f = le.AppendUint16(f, uint16(kind))
	f = le.AppendUint16(f, uint16(channels))
	f = le.AppendUint32(f, uint32(rate))
	f = le.AppendUint32(f, uint32(rate)*uint32(block)) // a player's, which decoders ignore
	f = le.AppendUint16(f, uint16(block))
	f = le.AppendUint16(f, uint16(8*e.Size()))
	f = append(f, "data"...)
	f = le.AppendUint32(f, uint32(len(data)))
	in.own = append(f, data...)
	in.encoded = in.own
	return nil
}

func checkSamples(rate, channels int) error {
	if rate < 1 || rate > 1<<24 {
		return fmt.Errorf("mobile: a sampling rate of %d Hz: %w: want 1 to 16777216", rate, errInput)
	}
	if channels < 1 || channels > sound.MaxChannels {
		return fmt.Errorf("mobile: %d channels: %w: want 1 to %d", channels, errInput, sound.MaxChannels)
	}
	return nil
}

// Stream computes the tensors of a sound while its samples arrive, such as
// those of a microphone. The parts of an output, joined along its axis, have
// the bytes of a run on the whole sound, whatever the sizes of the pieces. It
// is safe for concurrent use; calls wait for each other.
type Stream struct {
	mu      sync.Mutex
	stream  *datagraph.Stream
	columns int
}

// NewStream returns a Stream of samples of a rate in Hz and 1 to 1024 channels.
// The graph begins with decode_sound or decode_pcm, or takes samples; other
// graphs are an error of code "unsupported". The error of another rate than the
// graph's, or of channels that it does not take, has the code "input". The
// Preprocessor may be closed before the Stream.
func (p *Preprocessor) NewStream(rate, channels int) (s *Stream, err error) {
	defer guard(&err)
	if err := p.use(); err != nil {
		return nil, err
	}
	defer func() {
		if e := p.release(); err == nil {
			err = e
		}
	}()
	if err := checkSamples(rate, channels); err != nil {
		return nil, err
	}
	d, err := p.pool.Plan().NewStream(rate, channels)
	if err != nil {
		return nil, err
	}
	return &Stream{stream: d, columns: len(p.columns)}, nil
}

// Axis returns the axis along which the parts of output i follow each other. It
// returns -1 for an output without parts, which depends on the whole sound:
// Finish computes it.
func (s *Stream) Axis(i int) (axis int) {
	defer guardValue()
	if s == nil || i < 0 || i >= s.columns {
		return 0
	}
	return s.stream.Axis(i)
}

// Push takes the next samples, size bytes from offset on in a Buffer, and
// replaces the tensors of out by the next parts of the outputs. An output
// without a new part has a size of 0; see [Input.SetSamples] for the encodings.
// The samples are read in place. After an error the Stream cannot be used
// again.
func (s *Stream) Push(b *Buffer, offset, size int, encodingName string, out *Result) (err error) {
	defer guard(&err)
	data, err := b.memory(offset, size)
	if err != nil {
		return err
	}
	e, err := encoding(encodingName)
	if err != nil {
		return err
	}
	return s.with(out, func(d *datagraph.Stream) ([]*tensor.Tensor, error) { return d.PushPCM(e, data) })
}

// Finish ends the sound, and replaces the tensors of out by the last parts of
// the outputs, which may have a size of 0, and by the outputs without parts.
func (s *Stream) Finish(out *Result) (err error) {
	defer guard(&err)
	return s.with(out, (*datagraph.Stream).Finish)
}

// Close releases the memory. A second Close does nothing.
func (s *Stream) Close() {
	defer guardValue()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream, s.columns = nil, 0
}

// with replaces the tensors of out by those that next returns.
func (s *Stream) with(out *Result, next func(*datagraph.Stream) ([]*tensor.Tensor, error)) error {
	if out == nil {
		return errNull("result")
	}
	if s == nil {
		return errNull("stream")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return fmt.Errorf("mobile: stream %w", errClosed)
	}
	if err := out.begin(s.columns); err != nil {
		return err
	}
	parts, err := next(s.stream)
	if err != nil {
		return err
	}
	for i, t := range parts {
		if t == nil {
			continue
		}
		if err := out.outputs[i].copyFrom(i, t); err != nil {
			return err
		}
	}
	return nil
}
