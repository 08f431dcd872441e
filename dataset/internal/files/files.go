// Package files opens and reads the files of dataset sources.
package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/store"
)

// Limit is the largest file that is read. No image that decoders accept (100
// megapixels) is as large.
const Limit = 1 << 30

// OpenFolder opens the folder of a source of images. A link in it to a file
// elsewhere is followed if that file starts as an image does: Hugging Face's
// cache and many copies of ImageNet are folders of such links. Names that lead
// out in another way are store.ErrOutside.
func OpenFolder(ctx context.Context, o store.Opener, dir string) (store.Folder, error) {
	f, err := store.OpenFolder(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	return imageLinks{store.FollowLinks(o, f), f}, nil
}

// imageLinks is a folder whose links to images are followed.
type imageLinks struct {
	store.Folder
	strict store.Folder // follows none that leads out
}

// Open opens a file.
func (l imageLinks) Open(ctx context.Context, name string) (store.File, error) {
	f, err := l.strict.Open(ctx, name)
	if !errors.Is(err, store.ErrOutside) {
		return f, err
	}
	linked, bad := l.Folder.Open(ctx, name)
	if bad != nil {
		return nil, bad
	}
	head := make([]byte, codec.SniffSize)
	n, bad := linked.ReadAt(head, 0)
	if bad != nil && bad != io.EOF {
		return nil, errors.Join(bad, linked.Close())
	}
	if codec.Sniff(head[:n]) == "" {
		return nil, errors.Join(err, linked.Close())
	}
	return linked, nil
}

// Read makes v the bytes of a file, in v's own memory.
func Read(ctx context.Context, o store.Opener, v *dataset.Value, name string) (err error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size := f.Size()
	if size > Limit {
		return fmt.Errorf("%w: %s has %d bytes, want at most %d", dataset.ErrData, store.Redact(name), size, Limit)
	}
	if _, err := store.ReadAll(f, v.Bytes(int(size))); err != nil {
		return fmt.Errorf("%s: %w", store.Redact(name), err)
	}
	return nil
}

// Stamp appends the name, the size and the modification time of a file to b,
// for dataset.Stamped.
func Stamp(ctx context.Context, o store.Opener, b []byte, name string) ([]byte, error) {
	i, err := o.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = append(b, name...)
	b = binary.LittleEndian.AppendUint64(b, uint64(i.Size))
	return binary.LittleEndian.AppendUint64(b, uint64(i.Modified.UnixNano())), nil
}

// Reader reads a file from its beginning, until ctx ends.
type Reader struct {
	*io.SectionReader
	ctx  context.Context
	file store.File
}

// OpenReader opens a file.
func OpenReader(ctx context.Context, o store.Opener, name string) (*Reader, error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Reader{io.NewSectionReader(f, 0, f.Size()), ctx, f}, nil
}

// OpenText opens a text file. It skips a byte order mark; text in UTF-16 is an
// error.
func OpenText(ctx context.Context, o store.Opener, name string) (*Reader, error) {
	r, err := OpenReader(ctx, o, name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, min(int64(len(bom.UTF8)), r.Size()))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, errors.Join(fmt.Errorf("%s: %w", store.Redact(name), err), r.Close())
	}
	rest, err := bom.Cut(head)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err), r.Close())
	}
	if mark := int64(len(head) - len(rest)); mark > 0 {
		r.SectionReader = io.NewSectionReader(r.file, mark, r.Size()-mark)
	}
	return r, nil
}

// ListLimit is the most that the list files of a set have together, in bytes.
// The longest published list, of Places365, has 8 million lines.
const ListLimit = 1 << 30

// Lists opens list files of a set: those with names, captions and labels, whose
// content stays in memory while the set is open. Each file counts with its
// size. The zero value is ready for use, by one goroutine at a time.
type Lists struct{ bytes int64 }

// Open opens a list. An error wraps dataset.ErrData and store.ErrTooLarge if it
// and the lists before it exceed ListLimit; nothing is read then.
func (l *Lists) Open(ctx context.Context, o store.Opener, name string) (*Reader, error) {
	r, err := OpenText(ctx, o, name)
	if err != nil {
		return nil, err
	}
	if n := r.Size(); n > ListLimit-l.bytes {
		err := fmt.Errorf("%w: %s: %w: %d bytes after %d bytes of other lists, the limit is %d", dataset.ErrData, store.Redact(name), store.ErrTooLarge, n, l.bytes, ListLimit)
		return nil, errors.Join(err, r.Close())
	}
	l.bytes += r.Size()
	return r, nil
}

// Read reads the next bytes.
func (r *Reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.SectionReader.Read(b)
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Check checks that ctx has not ended and that row i is one of n rows.
func Check(ctx context.Context, i, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return Index(i, n)
}

// EachKey calls yield for each key until it returns false, as
// dataset.Keyed.Keys does.
func EachKey(keys []string, yield func(string) bool) {
	for _, k := range keys {
		if !yield(k) {
			return
		}
	}
}

// SizeKey returns the key of a file whose rows are only numbered. The query of
// a URL is no part of it: a run resumes with URLs that were signed again.
func SizeKey(name string, size int64) string {
	return fmt.Sprintf("%s, %d bytes", store.Path(name), size)
}

// Index checks that row i is one of n rows.
func Index(i, n int64) error {
	if i < 0 || i >= n {
		return fmt.Errorf("%w: row %d, want 0 to %d", dataset.ErrParam, i, n-1)
	}
	return nil
}
