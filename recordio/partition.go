package recordio

import "bytes"

// Part is dmlc-core's rule for dividing a stream among readers: the bytes from..to of part
// k of n. Each record, or line, is in exactly one part; a part may be empty.
//
// The stream is cut into n pieces of the same size, rounded up to the unit, and
// each cut that is not between two files is moved forward to the next place where
// a record begins, or to the end of its file. For text that is behind the next
// line's end, also if a line begins at the cut itself.
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

// cut moves a place to one where a record begins.
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

// findHead is the first place of b where a record begins; if there is none, from
// where to look on.
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
