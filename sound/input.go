package sound

import "io"

// Input is the data of one sound: bytes in memory, or a stream of which a
// window is in memory. A format's decoder reads it from front to end.
type Input struct {
	rest   []byte // what follows the position and is in memory
	offset int64  // the position
	stream io.Reader
	window []byte // memory of rest, if there is a stream
	ended  bool   // the stream has no more data
	err    error  // of the stream, other than io.EOF
}

// NewInput returns the Input of data in memory, which the caller must not
// change while a decoder uses it.
func NewInput(data []byte) *Input { return &Input{rest: data} }

// streamBytes is the least number of bytes that are read of a stream at once.
const streamBytes = 64 << 10

// Whole reports whether all of the data is in memory.
func (in *Input) Whole() bool { return in.stream == nil }

// Offset returns the position in the data.
func (in *Input) Offset() int64 { return in.offset }

// Err returns the error that ended the stream, nil at its regular end.
func (in *Input) Err() error { return in.err }

// Peek returns the data from the position on: all of it in memory, and n bytes
// at least, unless the data ends earlier. The slice is valid until the next
// call of a method; the caller must not change it. A decoder bounds n.
func (in *Input) Peek(n int) []byte {
	if len(in.rest) >= n || in.stream == nil || in.ended {
		return in.rest
	}
	if size := max(n, streamBytes); cap(in.window) < size {
		w := make([]byte, size)
		in.rest = w[:copy(w, in.rest)]
		in.window = w
	} else {
		in.rest = in.window[:copy(in.window, in.rest)]
	}
	have := len(in.rest)
	got, err := io.ReadAtLeast(in.stream, in.window[have:cap(in.window)], n-have)
	in.rest = in.window[:have+got]
	if err != nil {
		in.ended = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			in.err = err
		}
	}
	return in.rest
}

// Skip moves the position past n bytes that Peek returned.
func (in *Input) Skip(n int) {
	in.rest = in.rest[n:]
	in.offset += int64(n)
}

// Discard moves the position by n bytes. It reports false if the data ends
// earlier; the position is then the end.
func (in *Input) Discard(n int64) bool {
	for n > 0 {
		have := len(in.Peek(1))
		if have == 0 {
			return false
		}
		k := int(min(int64(have), n))
		in.Skip(k)
		n -= int64(k)
	}
	return true
}
