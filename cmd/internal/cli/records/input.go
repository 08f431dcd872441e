package records

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// recordInput is an argument of a command that reads records: files, or a
// stream, which is read once.
type recordInput struct {
	name   string
	format records.Format
	stream *bufio.Reader // nil for files
	pipe   *pipe.Reader
	read   int64 // bytes of the stream
}

// openRecords opens a stream, or finds out the format of files. from sets the
// format.
func openRecords(ctx context.Context, a *command.App, o store.Opener, name, from string) (*recordInput, error) {
	name = paths.TrimFile(name)
	in := &recordInput{name: name}
	var err error
	if !pipe.Is(name) {
		in.format, err = recordFormat(ctx, o, name, from)
		return in, err
	}
	in.pipe = pipe.Open(ctx, a.Stdin, name)
	in.stream = bufio.NewReaderSize(countReader{in.pipe, &in.read}, pipe.Buffer)
	if err = in.detect(from); err != nil {
		in.close()
		if err := command.Interrupted(ctx, "nothing was read"); err != nil {
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
	head, err := pipe.Head(in.stream)
	if err != nil {
		return command.FailErr("%w", command.Readable(in.name, err))
	}
	if from != "" {
		if in.format, err = records.Lookup(from); err != nil {
			return command.OneOf("from", from, records.Names()...)
		}
	} else if in.format, err = records.DetectHead(in.name, head); errors.Is(err, records.ErrUnknown) {
		return command.FailErr("%s: unknown format: set --from to %s", in.name, command.OrList(records.Names()))
	} else if err != nil {
		return command.FailErr("%w", command.Readable(in.name, err))
	}
	if in.format.Stream == nil {
		return command.FailErr("%s: %w", in.name, pipe.NeedsFile(in.format))
	}
	return nil
}

// each calls f with every record, until the first error.
func (in *recordInput) each(ctx context.Context, o store.Opener, options records.ReadOptions, f func(*records.Record) error) error {
	if in.stream == nil {
		return eachRecord(ctx, in.format, o, store.Split(ctx, o, []string{in.name}), options, f)
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
