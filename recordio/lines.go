package recordio

import (
	"bytes"
	"io"
)

// lines iterates over the lines of a text without their ends. A line ends with
// any run of LF and CR, so that no line is empty.
type lines struct {
	b    []byte
	pos  int
	at   int64 // of b
	line int64
}

// newLines returns the lines of b, which begins at offset in its file.
func newLines(b []byte, offset int64) *lines { return &lines{b: b, at: offset} }

// Next returns the next line, a view of the text, and io.EOF at the end.
func (l *lines) Next() ([]byte, error) {
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

// Offset returns the position in the file of the last line of Next.
func (l *lines) Offset() int64 { return l.line }
