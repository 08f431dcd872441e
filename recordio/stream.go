package recordio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Stream reads several files as one. It is safe for concurrent use.
type Stream struct {
	ctx    context.Context
	opener store.Opener
	files  []store.Info
	starts []int64 // where each file starts, and the end

	mu   sync.Mutex
	open []store.File // nil if not yet opened
}

// NewStream returns a stream of files, whose sizes must be multiples of unit, 4
// for record files. It opens each file at its first use.
func NewStream(ctx context.Context, o store.Opener, files []store.Info, unit int64) (*Stream, error) {
	s := &Stream{ctx: ctx, opener: o, files: files, starts: []int64{0}, open: make([]store.File, len(files))}
	for _, f := range files {
		if f.Size%unit != 0 {
			return nil, records.Corruptf(formatName, f.Name, f.Size/unit*unit, "the file has %d bytes, want a multiple of %d", f.Size, unit)
		}
		s.starts = append(s.starts, s.Size()+f.Size)
	}
	return s, nil
}

// Size returns the total size of all files.
func (s *Stream) Size() int64 { return s.starts[len(s.starts)-1] }

// At returns the file that holds a position of the stream, and the offset in
// it. The end of the stream is the end of the last file.
func (s *Stream) At(place int64) (file int, offset int64) {
	n := len(s.files)
	file = min(sort.Search(n, func(i int) bool { return s.starts[i+1] > place }), n-1)
	return file, place - s.starts[file]
}

// file opens file i and checks that its size did not change since it was
// listed.
func (s *Stream) file(i int) (store.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[i] != nil {
		return s.open[i], nil
	}
	f, err := s.opener.Open(s.ctx, s.files[i].Name)
	if err != nil {
		return nil, fmt.Errorf("recordio: %w", err)
	}
	if f.Size() != s.files[i].Size {
		err := fmt.Errorf("recordio: %s: %d bytes, it had %d before", store.Redact(s.files[i].Name), f.Size(), s.files[i].Size)
		return nil, errors.Join(err, f.Close())
	}
	s.open[i] = f
	return f, nil
}

// view returns the bytes from..to of file i, or nil if the file is not in
// memory.
func (s *Stream) view(i int, from, to int64) ([]byte, error) {
	f, err := s.file(i)
	if err != nil {
		return nil, err
	}
	b := store.MappedBytes(f)
	if b == nil {
		return nil, nil
	}
	return b[from:to:to], nil
}

// ReadAt reads at a position of the stream, across the ends of files.
func (s *Stream) ReadAt(b []byte, place int64) (n int, err error) {
	if place < 0 {
		return 0, fmt.Errorf("recordio: read at %d", place)
	}
	for n < len(b) {
		if place >= s.Size() {
			return n, io.EOF
		}
		i, offset := s.At(place)
		f, err := s.file(i)
		if err != nil {
			return n, err
		}
		part := b[n:min(int64(len(b)), int64(n)+s.files[i].Size-offset)]
		k, err := f.ReadAt(part, offset)
		n, place = n+k, place+int64(k)
		if k < len(part) {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF // the file was shortened
			}
			return n, fmt.Errorf("recordio: %s: at byte %d: %w", store.Redact(s.files[i].Name), offset+int64(k), err)
		}
	}
	return n, nil
}

// Close closes the files. The stream opens them again when it is used.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i, f := range s.open {
		if f != nil {
			errs = append(errs, f.Close())
			s.open[i] = nil
		}
	}
	return errors.Join(errs...)
}
