package kaldi

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// The format codes of a wave's fmt chunk, and its sizes.
const (
	pcm        = 1
	extensible = 0xfffe
	fmtSize    = 16
	fmtLong    = 40
)

// pcmID is the rest of the PCM sub-format (KSDATAFORMAT_SUBTYPE_PCM) after its
// first two bytes.
const pcmID = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"

// streamSizes are lengths of data that was written as a stream: the writer did
// not know the length, and the data extends to the end of the file. SoX writes
// 0x7ffff000, or 0x7ffff024 with the header.
var streamSizes = []uint32{0, 0xffffffff, 0xfffffffe, 0x7ffff000, 0x7ffff024}

// named reads the header of an object that begins with a name: a wave. c is its
// first byte.
func (r *Reader) named(c byte) error {
	b, err := r.take(3)
	if err != nil {
		return err
	}
	name := string(c) + string(b)
	switch {
	case name == "RIFF" || name == "RIFX":
		return r.wave(name == "RIFX")
	case strings.HasPrefix(name, "NPY"), strings.HasPrefix(name, "PKL"), name == "AUDI", name == "fLaC":
		return fmt.Errorf("kaldi: %s%w: an entry %q of kaldiio", where(r.o.Name, r.h.Key, r.h.Offset), records.ErrUnsupported, name)
	}
	return r.corrupt("an object %q, want 00 42, RIFF or text", name)
}

func (r *Reader) wave(big bool) error {
	var order binary.ByteOrder = binary.LittleEndian
	if r.big = big; big {
		order = binary.BigEndian
	}
	b, err := r.take(8)
	if err != nil {
		return err
	}
	if string(b[4:]) != "WAVE" {
		return r.corrupt("a RIFF file of %q, want WAVE", b[4:])
	}
	riff := order.Uint32(b)
	r.h.Type, r.h.Form = Wave, RIFF
	channels, width := int64(0), int64(0) // width: bytes of a sample
	for {
		if b, err = r.take(8); err != nil {
			return err
		}
		name, size := string(b[:4]), order.Uint32(b[4:])
		if name == "data" {
			if channels == 0 {
				return r.corrupt("data before fmt in a wave")
			}
			return r.waveData(int64(riff), int64(size), channels, width)
		}
		if b, err = r.take(int64(size) + int64(size&1)); err != nil {
			return err
		}
		if name != "fmt " {
			continue
		}
		if size < fmtSize {
			return r.corrupt("a fmt chunk of %d bytes, want 16 or more", size)
		}
		code, bits := order.Uint16(b), order.Uint16(b[14:])
		channels = int64(order.Uint16(b[2:]))
		rate, byteRate, block := order.Uint32(b[4:]), order.Uint32(b[8:]), order.Uint16(b[12:])
		isPCM := code == pcm
		if code == extensible && size >= fmtLong {
			code = order.Uint16(b[24:])
			id := []byte(pcmID)
			if big {
				slices.Reverse(id[:2])
				slices.Reverse(id[2:4])
				slices.Reverse(id[4:6])
			}
			isPCM = code == pcm && string(b[26:fmtLong]) == string(id)
		}
		switch {
		case isPCM && bits == 8:
			r.h.DType, width = tensor.Uint8, 1
		case isPCM && bits == 16:
			r.h.DType, width = tensor.Int16, 2
		default:
			return fmt.Errorf("kaldi: %s%w: a wave of format %d with %d bits, want PCM of 8 or 16",
				where(r.o.Name, r.h.Key, r.h.Offset), records.ErrUnsupported, code, bits)
		}
		if channels == 0 || int64(block) != channels*width || int64(byteRate) != int64(rate)*channels*width || rate == 0 {
			return r.corrupt("a wave of %d channels, %d samples/s, %d bytes/s and %d bytes at a time", channels, rate, byteRate, block)
		}
		r.h.Rate = int(rate)
	}
}

// waveData sets the shape, at the beginning of size bytes of data.
func (r *Reader) waveData(riff, size, channels, width int64) (err error) {
	behind := int64(0) // the data
	if slices.Contains(streamSizes, uint32(riff)) && slices.Contains(streamSizes, uint32(size)) {
		if size, err = r.toEnd(); err != nil {
			return err
		}
	} else {
		behind = 8 + riff - int64(len(r.head)) - size
		// Some writers count the byte that pads a chunk to an even length in
		// one of the two lengths only.
		if behind == -1 && size%2 == 0 {
			behind = 0
		}
		if behind < 0 || behind > 0 && behind < 8 && behind != size&1 {
			return r.corrupt("a RIFF file of %d bytes, in which %d bytes of data begin at %d", riff, size, len(r.head))
		}
	}
	if size%(channels*width) != 0 {
		return r.corrupt("%d bytes of data in a wave of %d at a time", size, channels*width)
	}
	n := size / (channels * width)
	if err := r.shape(size, n, channels); err != nil {
		return err
	}
	r.rest = size + behind
	return nil
}

// samples reads some of a wave's samples.
func (r *Reader) samples(from, to int) (*tensor.Tensor, error) {
	t, err := tensor.New(tensor.Desc{DType: r.h.DType, Shape: r.h.Shape.With(0, to-from)})
	if err != nil {
		return nil, err
	}
	step := int64(r.h.Shape.At(1) * r.h.DType.Size())
	at, n := int64(from)*step, int64(to-from)*step
	if r.tail != nil {
		copy(t.Data, r.tail[at:at+n])
	} else {
		if err := r.over(at); err != nil {
			return nil, err
		}
		b, err := r.more(nil, n)
		if err != nil {
			return nil, err
		}
		copy(t.Data, b)
	}
	if r.big != hostBig {
		swap(r.h.DType, t.Data)
	}
	return t, nil
}

// hostBig reports whether this machine, and so Tensor.Data, is big-endian.
// Kaldi's numbers are little-endian everywhere.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// swap reverses the bytes of every number in b.
func swap(d tensor.DType, b []byte) {
	if n := d.Size(); n == 2 {
		for i := 0; i+1 < len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
	} else if n > 1 {
		for ; len(b) >= n; b = b[n:] {
			slices.Reverse(b[:n])
		}
	}
}

// behind checks what follows size bytes of wave data: a zero if size is odd,
// and chunks. In a damaged file the next entry could begin there.
func (r *Reader) behind(b []byte, size int64) error {
	order := binary.ByteOrder(binary.LittleEndian)
	if r.big {
		order = binary.BigEndian
	}
	ok := true
	if size%2 == 1 && len(b) > 0 {
		ok, b = b[0] == 0, b[1:]
	}
	for ok && len(b) > 0 {
		if ok = len(b) >= 8; !ok {
			break
		}
		for _, c := range b[:4] {
			ok = ok && ' ' <= c && c < 0x7f
		}
		n := int64(order.Uint32(b[4:]))
		n += n % 2
		if ok = ok && n <= int64(len(b)-8); ok {
			b = b[8+n:]
		}
	}
	if !ok {
		return r.corrupt("what stands behind a wave's data, within its length, are no chunks")
	}
	return nil
}

// toEnd returns the number of bytes to the end of the file. If the size is
// unknown, it reads them.
func (r *Reader) toEnd() (int64, error) {
	if r.left >= 0 {
		return r.left, nil
	}
	r.tail = []byte{}
	for {
		c, err := r.r.Peek(1)
		if len(c) == 0 {
			if err == io.EOF {
				return int64(len(r.tail)), nil
			}
			return 0, r.failed(err)
		}
		if r.tail, err = r.more(r.tail, int64(r.r.Buffered())); err != nil {
			return 0, err
		}
		if n := int64(len(r.tail)); n > r.o.Limit {
			return 0, r.tooLarge(n)
		}
	}
}

// waveHeader returns the 44 bytes before n bytes of data.
func waveHeader(rate, channels, width, n int) []byte {
	le := binary.LittleEndian
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	le.PutUint32(b[4:], uint32(36+n+n&1))
	b = le.AppendUint32(append(b, "WAVEfmt "...), fmtSize)
	b = le.AppendUint16(le.AppendUint16(b, pcm), uint16(channels))
	b = le.AppendUint32(le.AppendUint32(b, uint32(rate)), uint32(rate*channels*width))
	b = le.AppendUint16(le.AppendUint16(b, uint16(channels*width)), uint16(8*width))
	return le.AppendUint32(append(b, "data"...), uint32(n))
}
