// Package bom removes the byte order mark that programs such as Notepad and
// Excel write at the beginning of text files.
package bom

import (
	"bytes"
	"errors"
	"io"
)

// UTF8 is the mark of UTF-8.
const UTF8 = "\xef\xbb\xbf"

// ErrUTF16 reports text whose mark is that of UTF-16.
var ErrUTF16 = errors.New("text in UTF-16: want UTF-8")

// Cut returns text without a mark of UTF-8, a part of b. Text in UTF-16 is an
// ErrUTF16.
func Cut(b []byte) ([]byte, error) {
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, ErrUTF16
	}
	return bytes.TrimPrefix(b, []byte(UTF8)), nil
}

// NewReader returns a reader of the text in r without a mark of UTF-8. It reads
// no further ahead than the mark. Reading text in UTF-16 is an ErrUTF16.
func NewReader(r io.Reader) io.Reader { return &reader{r: r} }

type reader struct {
	r     io.Reader
	head  [len(UTF8)]byte
	have  int // bytes in head
	from  int // of them, returned or cut
	begun bool
	err   error
}

// begin reads head until it is known whether it is a mark.
func (r *reader) begin() {
	for r.have < len(r.head) && r.err == nil {
		if b := r.head[:r.have]; r.have > 0 && !bytes.HasPrefix([]byte(UTF8), b) && (r.have > 1 || b[0] < 0xfe) {
			break
		}
		// The next byte alone: an answer may wait for a line of two.
		var n int
		n, r.err = r.r.Read(r.head[r.have : r.have+1])
		r.have += n
	}
	rest, err := Cut(r.head[:r.have])
	if err != nil {
		r.err, rest = err, nil
	}
	r.from = r.have - len(rest)
	r.begun = true
}

func (r *reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !r.begun {
		r.begin()
	}
	if n := copy(b, r.head[r.from:r.have]); n > 0 {
		r.from += n
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.r.Read(b)
}
