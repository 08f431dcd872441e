package recordio

import "bytes"

// Part returns the range of bytes of part k of n of the stream. Each record, or
// line for text, is in exactly one part; a part can be empty.
//
// The rule is dmlc-core's. The stream is cut into n pieces of equal size,
// rounded up to 4 bytes (1 for text). Each cut that is not between two files
// moves forward to the next place where a record begins, or to the end of its
// file. For text it moves after the next line end, even if a line begins at
// the cut itself.
func (s *Stream) Part(k, n int, text bool) (from, to int64, err error) {
	unit := int64(align)
	if text {
		unit = 1
	}
	size := s.Size()
	step := (size + int64(n) - 1) / int64(n)
	step = (step + unit - 1) / unit * unit
	if from, err = s.cut(min(step*int64(k), size), text); err != nil {
		return 0, 0, err
	}
	to, err = s.cut(min(step*int64(k+1), size), text)
	return from, to, err
}

// cut moves a position forward to one where a record begins.
func (s *Stream) cut(place int64, text bool) (int64, error) {
	i, offset := s.At(place)
	if offset == 0 || place == s.Size() {
		return place, nil
	}
	find := findHead
	if text {
		find = (&lineEnd{}).find
	}
	end := s.files[i].Size
	for at := offset; at < end; {
		const block = 64 << 10
		n := min(end-at, block)
		b, err := s.view(i, at, at+n)
		if err != nil {
			return 0, err
		}
		if b == nil {
			b = make([]byte, n)
			if _, err := s.ReadAt(b, s.starts[i]+at); err != nil {
				return 0, err
			}
		}
		j, next := find(b, at+n == end)
		if j >= 0 {
			return s.starts[i] + at + int64(j), nil
		}
		at += int64(next)
	}
	return s.starts[i+1], nil
}

// findHead returns the first place of b where a record begins. Otherwise place
// is -1, and the search continues at next.
func findHead(b []byte, atEnd bool) (place, next int) {
	for at := 0; ; {
		i := findMagic(b[at:])
		switch {
		case i < 0:
			return -1, len(b)
		case at+i+header > len(b):
			if atEnd {
				return -1, len(b)
			}
			return -1, at + i
		case isHead(b[at+i:]):
			return at + i, 0
		}
		at += i + align
	}
}

// lineEnd finds the first byte after the first run of line ends.
type lineEnd struct{ in bool }

func (l *lineEnd) find(b []byte, _ bool) (place, next int) {
	at := 0
	if !l.in {
		i := bytes.IndexAny(b, "\r\n")
		if i < 0 {
			return -1, len(b)
		}
		l.in, at = true, i
	}
	for ; at < len(b); at++ {
		if b[at] != '\r' && b[at] != '\n' {
			return at, 0
		}
	}
	return -1, len(b)
}
