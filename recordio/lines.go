package recordio

import (
	"bytes"
	"io"
)

// Lines are the lines of a text without their ends, LF, CR or any run of them, so
// that there are no empty ones.
type Lines struct {
	b    []byte
	pos  int
	at   int64 // of b
	line int64
}

// NewLines makes the lines of b, which begins at offset of its file.
func NewLines(b []byte, offset int64) *Lines { return &Lines{b: b, at: offset} }

// Next is the next line, a view of the text; io.EOF at the end.
func (l *Lines) Next() ([]byte, error) {
	for l.pos < len(l.b) && (l.b[l.pos] == '\n' || l.b[l.pos] == '\r') {
		l.pos++
	}
	rest := l.b[l.pos:]
	if len(rest) == 0 {
		return nil, io.EOF
	}
	n := bytes.IndexAny(rest, "\r\n")
	if n < 0 {
		n = len(rest)
	}
	l.line = l.at + int64(l.pos)
	l.pos += n
	return rest[:n:n], nil
}

// Offset is where the line that Next gave last begins in the file.
func (l *Lines) Offset() int64 { return l.line }
