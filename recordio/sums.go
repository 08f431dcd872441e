package recordio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Sum is the checksum of one record, kept in a file of its own since RecordIO
// has none: the record's offset and length, and its CRC-32C. The file is text
// with one line for each record, in order: offset, length and the sum as eight
// hexadecimal digits, separated by tabs.
type Sum struct {
	Offset int64
	Length int
	CRC    uint32
}

// AppendText appends the sum's line to b.
func (s Sum) AppendText(b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\t%d\t%08x\n", s.Offset, s.Length, s.CRC), nil
}

// ReadSums reads a file of sums. An invalid line is a CorruptionError.
func ReadSums(name string, r io.Reader) ([]Sum, error) {
	var l []Sum
	in := bufio.NewScanner(r)
	for at := int64(0); in.Scan(); at += int64(len(in.Bytes())) + 1 {
		f := bytes.Split(in.Bytes(), []byte("\t"))
		var s Sum
		var crc uint64
		err := errors.New("not three of them")
		if len(f) == 3 && len(f[2]) == 8 {
			if s.Offset, err = strconv.ParseInt(string(f[0]), 10, 64); err == nil {
				if s.Length, err = strconv.Atoi(string(f[1])); err == nil {
					crc, err = strconv.ParseUint(string(f[2]), 16, 32)
				}
			}
		}
		if err != nil || s.Offset < 0 || s.Length < 0 || s.Length > MaxRecord || len(l) > 0 && s.Offset <= l[len(l)-1].Offset {
			return nil, records.Corruptf(formatName, name, at, "%.60q, want an offset above the last one, a length and eight hexadecimal digits", in.Text())
		}
		s.CRC = uint32(crc)
		l = append(l, s)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("recordio: %s: %w", store.Redact(name), err)
	}
	return l, nil
}

// each calls f for every record of the stream, with its position.
func (s *Stream) each(o Options, f func(at int64, record []byte) error) error {
	return s.within(0, s.Size(), o, f)
}

// within is like each for the records between two positions, at each of which a
// record begins or a file ends.
func (s *Stream) within(from, to int64, o Options, f func(at int64, record []byte) error) error {
	for i, file := range s.files {
		first, end := max(from-s.starts[i], 0), min(to-s.starts[i], file.Size)
		if first >= end {
			continue
		}
		b, err := s.view(i, first, end)
		if err != nil {
			return err
		}
		p := o
		p.Name, p.Offset = file.Name, first
		r := NewBytes(b, p)
		if b == nil {
			r = NewReader(io.NewSectionReader(s, s.starts[i]+first, end-first), p)
		}
		for {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = f(s.starts[i]+r.Offset(), record)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Sums reads the whole stream and returns the sums of its records.
func (s *Stream) Sums(o Options) (l []Sum, err error) {
	err = s.each(o, func(at int64, record []byte) error {
		l = append(l, Sum{at, len(record), crc32.Checksum(record, castagnoli)})
		return nil
	})
	return l, err
}

// Verify reads the whole stream and compares its records with their sums. It
// calls bad for each difference, and for damage that ends the reading. It
// returns all other errors.
func (s *Stream) Verify(sums []Sum, o Options, bad func(*records.CorruptionError)) error {
	corrupt := func(at int64, format string, args ...any) {
		file, offset := s.At(at)
		bad(records.Corruptf(formatName, s.files[file].Name, offset, format, args...))
	}
	n := 0
	err := s.each(o, func(at int64, record []byte) error {
		for ; n < len(sums) && sums[n].Offset < at; n++ {
			corrupt(sums[n].Offset, "no record, want one of %d bytes", sums[n].Length)
		}
		if n == len(sums) || sums[n].Offset != at {
			corrupt(at, "a record of %d bytes, want none", len(record))
			return nil
		}
		want := sums[n]
		n++
		if got := (Sum{at, len(record), crc32.Checksum(record, castagnoli)}); got != want {
			corrupt(at, "a record of %d bytes with the sum %08x, want %d and %08x", got.Length, got.CRC, want.Length, want.CRC)
		}
		return nil
	})
	if c, ok := errors.AsType[*records.CorruptionError](err); ok {
		bad(c)
		return nil
	}
	for ; err == nil && n < len(sums); n++ {
		corrupt(min(sums[n].Offset, s.Size()), "no record, want one of %d bytes", sums[n].Length)
	}
	return err
}
