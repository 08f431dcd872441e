package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// stdinArg is the argument that means standard input, and stdinName the name
// of its outputs.
const stdinArg, stdinName = "-", "stdin"

// isPipe reports whether an argument is read as a stream, since it has no size
// and no positions: standard input, a named pipe, as <(…) of a shell is, or a
// character device, as a terminal's /dev/stdin is.
func isPipe(path string) bool {
	if path == stdinArg {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && isPipeMode(info.Mode())
}

func isPipeMode(m fs.FileMode) bool { return m&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 }

// oneStdin refuses a command line that reads standard input twice. Flags that
// name outputs are not read.
func oneStdin(cmd *cobra.Command, args []string) error {
	var readers []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "lines" || f.Value.String() == stdinArg && f.Name != "output" && f.Name != "svg" {
			readers = append(readers, "--"+f.Name)
		}
	})
	for _, arg := range args {
		if arg == stdinArg {
			readers = append(readers, "the argument -")
		}
	}
	if len(readers) > 1 {
		return usageErr("%s both read standard input: want only one", strings.Join(readers[:2], " and "))
	}
	return nil
}

// pipe reads a stream until its context ends. A read that waits for a writer
// cannot be interrupted: it goes on in a goroutine, while Read returns.
type pipe struct {
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

const pipeBuffer = 64 << 10

// openPipe opens standard input or a named pipe. Opening a pipe waits for its
// writer, which the first Read does.
func openPipe(ctx context.Context, stdin io.Reader, path string) *pipe {
	return newPipe(ctx, func() (io.ReadCloser, error) {
		if path == stdinArg {
			return io.NopCloser(stdin), nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, plain(path, err)
		}
		return f, nil
	})
}

func newPipe(ctx context.Context, open func() (io.ReadCloser, error)) *pipe {
	p := &pipe{ctx: ctx, full: make(chan chunk, 1), free: make(chan []byte, 2), end: make(chan struct{})}
	for range cap(p.free) {
		p.free <- make([]byte, pipeBuffer)
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

func (p *pipe) Read(b []byte) (int, error) {
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
func (p *pipe) Close() error {
	close(p.end)
	return nil
}

// readStream reads a stream to its end. One of more bytes than the limit is an
// error, which is found before more are in memory.
func readStream(r io.Reader, limits codec.Limits) ([]byte, error) {
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

// readImagePipe reads an image from a stream. head is what decides that it is
// none, so that the rest of an endless stream is not read.
func readImagePipe(r *bufio.Reader, head []byte, limits codec.Limits) ([]byte, error) {
	if codec.Sniff(head) == "" {
		return bytes.Clone(head), nil // the decoder says what it is
	}
	return readStream(r, limits)
}

// peekHead returns the first bytes of a stream without consuming them.
func peekHead(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(records.HeadSize)
	if err == io.EOF {
		err = nil
	}
	return head, err
}

// recordInput is an argument of a command that reads records: files, or a
// stream, which is read once.
type recordInput struct {
	name   string
	format records.Format
	stream *bufio.Reader // nil for files
	pipe   *pipe
	read   int64 // bytes of the stream
}

// recordInput opens a stream, or finds out the format of files. from sets the
// format.
func (a *app) recordInput(ctx context.Context, o store.Opener, name, from string) (*recordInput, error) {
	name = trimFile(name)
	in := &recordInput{name: name}
	var err error
	if !isPipe(name) {
		in.format, err = recordFormat(ctx, o, name, from)
		return in, err
	}
	in.pipe = openPipe(ctx, a.stdin, name)
	in.stream = bufio.NewReaderSize(countReader{in.pipe, &in.read}, pipeBuffer)
	if err = in.detect(from); err != nil {
		in.close()
		if err := interrupted(ctx, "nothing was read"); err != nil {
			return nil, err
		}
		return nil, err
	}
	return in, nil
}

func (in *recordInput) close() {
	if in.pipe != nil {
		_ = in.pipe.Close()
	}
}

func (in *recordInput) detect(from string) error {
	head, err := peekHead(in.stream)
	if err != nil {
		return failErr("%w", readable(in.name, err))
	}
	if from != "" {
		if in.format, err = records.Lookup(from); err != nil {
			return oneOf("from", from, records.Names()...)
		}
	} else if in.format, err = detectHead(in.name, head); errors.Is(err, records.ErrUnknown) {
		return failErr("%s: unknown format: set --from to %s", in.name, orList(records.Names()))
	} else if err != nil {
		return failErr("%w", readable(in.name, err))
	}
	if in.format.Stream == nil {
		return failErr("%s: %w", in.name, needsFile(in.format))
	}
	return nil
}

// each calls f with every record, until the first error.
func (in *recordInput) each(ctx context.Context, o store.Opener, options records.ReadOptions, f func(*records.Record) error) error {
	if in.stream == nil {
		return eachRecord(ctx, in.format, o, splitFiles(in.name), options, f)
	}
	r, err := in.format.Stream(in.stream, in.name, options)
	if err != nil {
		return err
	}
	return readRecords(ctx, r, f)
}

// countReader counts the bytes that it reads.
type countReader struct {
	r io.Reader
	n *int64
}

func (c countReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}

// needsFile returns the error of a stream in a format that has to seek.
func needsFile(f records.Format) error {
	return fmt.Errorf("the format %s cannot be read from a pipe, since it needs to seek and the files beside it: want a file", f.Name)
}

// detectHead returns the format of a stream by its first bytes alone.
func detectHead(path string, head []byte) (records.Format, error) {
	f, err := records.DetectHead(path, head)
	if err != nil && isMindRecord(head) {
		err = errMindRecord
	}
	return f, err
}

// isMindRecord reports whether a file begins like a MindRecord file. Package
// records/mindrecord knows it better, and may be missing.
func isMindRecord(head []byte) bool {
	const magic = `{"header_size":`
	return len(head) >= 8+len(magic) && string(head[8:8+len(magic)]) == magic
}

// errMindRecord reports a MindRecord file in a program without the package.
var errMindRecord = errors.New("a MindRecord file, and this program is built without records/mindrecord, which links SQLite")
