package recordio

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/records"
)

// Writer writes records. It is for one goroutine at a time.
type Writer struct {
	w      io.Writer
	offset int64
	err    error
	head   [header]byte
}

// NewWriter returns a writer whose first record begins at offset, a multiple of
// 4. Use 0 for a new file, and the file's size to append.
func NewWriter(w io.Writer, offset int64) (*Writer, error) {
	if offset < 0 || offset%align != 0 {
		return nil, fmt.Errorf("recordio: records written at %d, want a multiple of %d", offset, align)
	}
	return &Writer{w: w, offset: offset}, nil
}

// Offset returns the position of the next record.
func (w *Writer) Offset() int64 { return w.offset }

// Write writes one record. After an error all later calls return it too, since
// the file may end within a record.
func (w *Writer) Write(record []byte) error {
	if w.err != nil {
		return w.err
	}
	if len(record) > MaxRecord {
		return fmt.Errorf("recordio: %w: %d bytes, at most %d can be written", records.ErrTooLarge, len(record), MaxRecord)
	}
	kind := first
	for w.err == nil {
		i := findMagic(record)
		if i < 0 {
			break
		}
		w.part(kind, record[:i])
		record, kind = record[i+align:], middle
	}
	if kind == first {
		kind = whole
	} else {
		kind = last
	}
	w.part(kind, record)
	return w.err
}

var zeros [align]byte

func (w *Writer) part(kind int, data []byte) {
	binary.LittleEndian.PutUint32(w.head[:], Magic)
	binary.LittleEndian.PutUint32(w.head[align:], uint32(kind)<<29|uint32(len(data)))
	for _, b := range [][]byte{w.head[:], data, zeros[:padded(len(data))-len(data)]} {
		if len(b) == 0 || w.err != nil {
			continue
		}
		n, err := w.w.Write(b)
		w.offset += int64(n)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			w.err = fmt.Errorf("recordio: %w", err)
		}
	}
}
