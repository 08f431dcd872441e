package clip

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// StreamError reports a stream that ends within a frame, or whose frame has
// another form.
type StreamError struct {
	// Frame is the frame's number, from 0.
	Frame int
	// Offset is the position in the stream, in bytes.
	Offset int64
	// Err is io.ErrUnexpectedEOF if the stream ends, or it wraps
	// video.ErrFrames, codec.ErrLimit or an error of the reader.
	Err error
}

// Error returns the error's text.
func (e *StreamError) Error() string {
	return fmt.Sprintf("frame %d: byte %d of the stream: %v", e.Frame, e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *StreamError) Unwrap() error { return e.Err }

// maxFrame limits the bytes of a frame of ReadRaw, even without other limits.
const maxFrame = 1 << 30

// ReadRaw reads frames of RGB pixels, three bytes each, one frame after the
// other without anything between them, as ffmpeg -f rawvideo -pix_fmt rgb24
// writes them. Errors about the stream are of type *StreamError.
func ReadRaw(r io.Reader, width, height int, limits codec.Limits) (*Clip, error) {
	if err := limits.CheckSize("rawvideo", width, height, 3); err != nil {
		return nil, err
	}
	size, most := int64(width)*int64(height)*3, room(limits)
	if width > maxFrame || height > maxFrame || size > maxFrame {
		return nil, fmt.Errorf("rawvideo: %w: frames of %dx%d pixels, want at most %d bytes", codec.ErrLimit, width, height, maxFrame)
	}
	var frames [][]byte
	fail := func(n int, err error) error {
		return &StreamError{len(frames), int64(len(frames))*size + int64(n), err}
	}
	in := bufio.NewReader(r)
	for {
		if _, err := in.Peek(1); err == io.EOF {
			break
		} else if err != nil {
			return nil, fail(0, err)
		}
		if err := more(len(frames), int64(len(frames)+1)*size, most); err != nil {
			return nil, fail(0, err)
		}
		b := header(width, height)
		n, err := io.ReadFull(in, b[len(b):cap(b)])
		if err != nil {
			return nil, fail(n, err)
		}
		frames = append(frames, b[:cap(b)])
	}
	return inMemory(frames)
}

// more checks that a stream may have a frame more.
func more(frames int, bytes, most int64) error {
	if frames >= video.MaxFrames || bytes > most {
		return fmt.Errorf("%w: more than %d frames or %d bytes", codec.ErrLimit, video.MaxFrames, most)
	}
	return nil
}

// inMemory returns a clip of frames.
func inMemory(frames [][]byte) (*Clip, error) {
	if len(frames) == 0 {
		return nil, &StreamError{0, 0, io.ErrUnexpectedEOF}
	}
	return &Clip{Metadata: video.Metadata{Frames: len(frames)}, Frame: func(i int) ([]byte, error) { return frames[i], nil }}, nil
}

// ReadImages reads a stream of PNG, JPEG, BMP or WebP files without anything
// between them, as ffmpeg -f image2pipe writes them. Errors about the stream
// are of type *StreamError.
func ReadImages(r io.Reader, limits codec.Limits) (*Clip, error) {
	var frames [][]byte
	s := &splitter{in: bufio.NewReaderSize(r, 64<<10), most: room(limits)}
	for {
		if _, err := s.in.Peek(1); err == io.EOF {
			return inMemory(frames)
		} else if err != nil {
			return nil, &StreamError{len(frames), s.at, err}
		}
		s.b = nil
		err := more(len(frames), s.at, s.most)
		if err == nil {
			err = s.image()
		}
		if err != nil {
			return nil, &StreamError{len(frames), s.at, err}
		}
		frames = append(frames, s.b)
	}
}

// splitter finds the ends of images in a stream.
type splitter struct {
	in   *bufio.Reader
	b    []byte // the image so far
	at   int64  // bytes read from the stream
	most int64
}

// take reads n bytes. They are valid until the next call.
func (s *splitter) take(n int64) ([]byte, error) {
	if n > s.most-s.at {
		return nil, fmt.Errorf("%w: more than %d bytes", codec.ErrLimit, s.most)
	}
	start := len(s.b)
	for n > 0 { // in pieces: a length in a damaged file allocates nothing
		step := min(n, 64<<10)
		old := len(s.b)
		s.b = append(s.b, make([]byte, step)...)
		k, err := io.ReadFull(s.in, s.b[old:])
		s.at += int64(k)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		n -= step
	}
	return s.b[start:], nil
}

// image reads one image.
func (s *splitter) image() error {
	head, err := s.in.Peek(16)
	if err != nil && err != io.EOF {
		return err
	}
	switch has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }; {
	case has("\x89PNG\r\n\x1a\n"):
		return s.png()
	case has("\xff\xd8\xff"):
		return s.jpeg()
	case has("BM"):
		return s.sized(6, 2, 0)
	case has("RIFF") && len(head) > 12 && string(head[8:12]) == "WEBP":
		return s.sized(8, 4, 8)
	}
	if len(head) < 16 { // too short for any image
		_, err := s.take(16)
		return err
	}
	return fmt.Errorf("%w: first bytes %q: want a PNG, JPEG, BMP or WebP file", video.ErrFrames, head)
}

// sized reads a file whose first n bytes have its size, less more, at that
// offset.
func (s *splitter) sized(n int64, at int, more int64) error {
	b, err := s.take(n)
	if err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(b[at:])) + more
	if size < 26 {
		return fmt.Errorf("%w: a file of %d bytes: want its size in its header", video.ErrFrames, size)
	}
	_, err = s.take(size - n)
	return err
}

func (s *splitter) png() error {
	if _, err := s.take(8); err != nil {
		return err
	}
	for {
		b, err := s.take(8)
		if err != nil {
			return err
		}
		end := string(b[4:]) == "IEND"
		if _, err := s.take(int64(binary.BigEndian.Uint32(b)) + 4); err != nil || end {
			return err
		}
	}
}

func (s *splitter) jpeg() error {
	if _, err := s.take(2); err != nil {
		return err
	}
	for {
		b, err := s.take(2)
		if err != nil {
			return err
		}
		if b[0] != 0xff {
			return fmt.Errorf("%w: JPEG: byte %#02x, want a marker", video.ErrFrames, b[0])
		}
		m := b[1]
		for m == 0xff { // fill bytes
			if b, err = s.take(1); err != nil {
				return err
			}
			m = b[0]
		}
		if m == 0xd9 {
			return nil
		}
		if m == 0x01 || m >= 0xd0 && m <= 0xd7 { // without a length
			continue
		}
		if b, err = s.take(2); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint16(b))
		if n < 2 {
			return fmt.Errorf("%w: JPEG: a segment of %d bytes", video.ErrFrames, n)
		}
		if _, err := s.take(n - 2); err != nil {
			return err
		}
		if m == 0xda {
			if err := s.scan(); err != nil {
				return err
			}
		}
	}
}

// scan reads entropy-coded data up to the next marker.
func (s *splitter) scan() error {
	for {
		b, err := s.in.Peek(2)
		if len(b) == 2 && b[0] == 0xff && b[1] != 0 && b[1] != 0xff && (b[1] < 0xd0 || b[1] > 0xd7) {
			return nil
		}
		if len(b) < 2 {
			if err != io.EOF {
				return err
			}
			_, err = s.take(2)
			return err
		}
		// All that is buffered up to the next 0xff, but for the first byte.
		b, _ = s.in.Peek(s.in.Buffered())
		n := bytes.IndexByte(b[1:], 0xff) + 1
		if n == 0 {
			n = len(b)
		}
		if _, err := s.take(int64(n)); err != nil {
			return err
		}
	}
}
