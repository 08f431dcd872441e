// Package pipe reads standard input and named pipes, and ends with a context.
package pipe

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/records"
)

// Stdin is the argument that means standard input, and StdinName the
// name of its outputs.
const Stdin, StdinName = "-", "stdin"

// Is reports whether an argument is read as a stream, since it has no size
// and no positions: standard input, a named pipe, as <(…) of a shell is, or a
// character device, as a terminal's /dev/stdin is.
func Is(path string) bool {
	if path == Stdin {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && IsMode(info.Mode())
}

func IsMode(m fs.FileMode) bool { return m&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 }

// Reader reads a stream until its context ends. A read that waits for a writer
// cannot be interrupted: it goes on in a goroutine, while Read returns.
type Reader struct {
	ctx  context.Context
	full chan chunk
	free chan []byte
	end  chan struct{} // closed by Close
	now  chunk         // its rest
	err  error
}

type chunk struct {
	b    []byte
	rest []byte // not yet read
	err  error
}

const Buffer = 64 << 10

// Open opens standard input or a named pipe. Opening a pipe waits for its
// writer, which the first Read does.
func Open(ctx context.Context, stdin io.Reader, path string) *Reader {
	return newPipe(ctx, func() (io.ReadCloser, error) {
		if path == Stdin {
			return io.NopCloser(stdin), nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, paths.Error(path, err)
		}
		return f, nil
	})
}

func newPipe(ctx context.Context, open func() (io.ReadCloser, error)) *Reader {
	p := &Reader{ctx: ctx, full: make(chan chunk, 1), free: make(chan []byte, 2), end: make(chan struct{})}
	for range cap(p.free) {
		p.free <- make([]byte, Buffer)
	}
	send := func(c chunk) bool {
		select {
		case p.full <- c:
			return c.err == nil
		case <-p.end:
			return false
		}
	}
	go func() {
		in, err := open()
		if err != nil {
			send(chunk{err: err})
			return
		}
		defer in.Close()
		for {
			select {
			case b := <-p.free:
				n, err := in.Read(b)
				if !send(chunk{b: b, rest: b[:n], err: err}) {
					return
				}
			case <-p.end:
				return
			}
		}
	}()
	return p
}

func (p *Reader) Read(b []byte) (int, error) {
	for len(p.now.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.err = p.ctx.Err(); p.err != nil {
			continue
		}
		if p.now.b != nil {
			p.free <- p.now.b
			p.now = chunk{}
		}
		select {
		case p.now = <-p.full:
			p.err = p.now.err
		case <-p.ctx.Done():
		}
	}
	n := copy(b, p.now.rest)
	p.now.rest = p.now.rest[n:]
	return n, nil
}

// Close ends reading. It does not wait for a read in progress.
func (p *Reader) Close() error {
	close(p.end)
	return nil
}

// ReadAll reads a stream to its end. One of more bytes than the limit is an
// error, which is found before more are in memory.
func ReadAll(r io.Reader, limits codec.Limits) ([]byte, error) {
	if limits.Bytes > 0 {
		r = io.LimitReader(r, limits.Bytes+1)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if limits.Bytes > 0 && int64(len(b)) > limits.Bytes {
		return nil, codec.Errorf("", -1, codec.ErrBytes, "the input has more than %d bytes, the limit", limits.Bytes)
	}
	return b, nil
}

// ReadImage reads an image from a stream. head is what decides that it is
// none, so that the rest of an endless stream is not read.
func ReadImage(r *bufio.Reader, head []byte, limits codec.Limits) ([]byte, error) {
	if codec.Sniff(head) == "" {
		return bytes.Clone(head), nil // the decoder says what it is
	}
	return ReadAll(r, limits)
}

// Head returns the first bytes of a stream without consuming them.
func Head(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(records.HeadSize)
	if err == io.EOF {
		err = nil
	}
	return head, err
}
