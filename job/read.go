package job

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/store"
)

// Read reads the file, if it starts like an image or is explicit. Otherwise why
// says why it is skipped. Errors begin with the file's path.
func (in *File) Read(ctx context.Context, limits codec.Limits) (data []byte, why string, err error) {
	data, l, err := in.read(ctx, limits, nil, func(int64) {})
	if err != nil {
		err = in.failure(KindRead, err)
	}
	return data, l.why, err
}

// read is Read with the memory b, if its capacity suffices. It calls take with
// the size before it reads more than the first bytes.
func (in *File) read(ctx context.Context, limits codec.Limits, b []byte, take func(size int64)) (data []byte, l left, err error) {
	if in.skip != "" {
		return nil, left{in.skip, in.named}, nil
	}
	if in.held {
		if !in.Explicit && !in.starts(in.data) {
			l.why, l.named = in.leftOut(in.data)
		}
		return in.data, l, nil
	}
	f, err := in.Open(ctx)
	if err != nil {
		return nil, l, err
	}
	defer f.Close()
	if !in.Explicit {
		head := make([]byte, codec.SniffSize)
		n, err := f.ReadAt(head, 0)
		if err == nil && !in.starts(head) {
			head = make([]byte, headBytes)
			n, err = f.ReadAt(head, 0)
		}
		if err != nil && err != io.EOF {
			return nil, l, err
		}
		if !in.starts(head[:n]) {
			l.why, l.named = in.leftOut(head[:n])
			return nil, l, nil
		}
	}
	size := f.Size()
	take(size)
	data, err = readFile(f, b, limits)
	return data, l, err
}

// ReadAll reads the file, or stdin or the pipe that it names, whatever it
// holds. Errors begin with the file's path.
func (in *File) ReadAll(ctx context.Context, stdin io.Reader, limits codec.Limits) (data []byte, err error) {
	if in.pipe {
		p := pipe.Open(ctx, stdin, in.Path)
		defer p.Close()
		r := bufio.NewReaderSize(p, pipe.Buffer)
		head, err := pipe.Head(r)
		if err == nil {
			data, err = pipe.ReadImage(r, head, limits)
		}
		return data, paths.Error(in.Path, err)
	}
	f, err := in.Open(ctx)
	if err == nil {
		defer f.Close()
		data, err = readFile(f, nil, limits)
	}
	return data, paths.Error(in.Path, err)
}

// readFile reads a file, into b if its capacity suffices. It checks the size
// first.
func readFile(f store.File, b []byte, limits codec.Limits) ([]byte, error) {
	if size := f.Size(); limits.Bytes > 0 && size > limits.Bytes {
		return b, tooLarge(size, limits.Bytes)
	}
	return store.ReadAll(f, b)
}

// tooLarge returns the error of a file above the limit.
func tooLarge(size, limit int64) error {
	return codec.Errorf("", -1, codec.ErrBytes, "the file has %d bytes, the limit is %d", size, limit)
}

// failure returns an error of an image or of its outputs, with the image's path
// in front. at is "" if it is unknown.
func (in *File) failure(at Kind, err error) error {
	err = paths.Reason(err)
	switch {
	case in.uri == "":
	case paths.IsMissing(err) && at == KindRead:
		return paths.Missing(in.Path + ": no such file or folder")
	case strings.Contains(err.Error(), in.Path): // a store named it
		return err
	}
	return fmt.Errorf("%s: %w", in.Path, err)
}
