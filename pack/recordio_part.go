package pack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// partFile is an output file under construction, named like the output with
// .part appended. It tracks the size and checksum of what was written.
type partFile struct {
	fileState
	path   string
	f      *os.File
	buf    *bufio.Writer
	closed bool
	test   func(string) error
}

// partBuffer is the size of one write in bytes.
const partBuffer = 256 << 10

func openPart(name string, buffer int, test func(string) error) (*partFile, error) {
	f, err := os.OpenFile(name+".part", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	p := &partFile{path: name + ".part", f: f, test: test}
	p.buf = bufio.NewWriterSize(partWriter{p}, buffer)
	return p, nil
}

// partWriter is the writer below the buffer.
type partWriter struct{ p *partFile }

func (w partWriter) Write(b []byte) (int, error) {
	if err := w.p.test("write"); err != nil {
		n, _ := w.p.f.Write(b[:len(b)/2]) // the disk is full
		return n, err
	}
	return w.p.f.Write(b)
}

// Write implements io.Writer.
func (p *partFile) Write(b []byte) (int, error) {
	p.add(b)
	return p.buf.Write(b)
}

func (p *partFile) flush() error {
	if err := p.buf.Flush(); err != nil {
		return fmt.Errorf("pack: %s: %w", p.path, err)
	}
	return nil
}

// matching returns the number of leading states whose file k matches the
// beginning of the file.
func (p *partFile) matching(states []recordIOState, k int) (int, error) {
	r := bufio.NewReaderSize(p.f, partBuffer)
	sum := crc32.New(castagnoli)
	at := int64(0)
	for i, s := range states {
		n, err := io.CopyN(sum, r, s.Files[k].Size-at)
		if at += n; err == io.EOF {
			return i, nil
		}
		if err != nil {
			return 0, fmt.Errorf("pack: %s: %w", p.path, err)
		}
		if at != s.Files[k].Size || sum.Sum32() != s.Files[k].CRC {
			return i, nil
		}
	}
	return len(states), nil
}

// truncate truncates the file to the state's size and positions it at the end.
func (p *partFile) truncate(s fileState) error {
	p.fileState = s
	err := p.f.Truncate(s.Size)
	if err == nil {
		_, err = p.f.Seek(s.Size, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

func (p *partFile) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	if err := p.f.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// reopen renames a finished file back to its .part name if it matches the
// state.
func reopen(name string, s fileState) error {
	if _, err := os.Lstat(name + ".part"); err == nil {
		return nil
	}
	got, err := sumFile(context.Background(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if got != s {
		return nil
	}
	return os.Rename(name, name+".part")
}

// syncFolder makes renames durable. It ignores errors, because some systems
// cannot sync folders.
func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
