package tokens

import (
	"fmt"
	"strings"
)

// maxText bounds the texts of a call in bytes.
const maxText = 64 << 20

// text builds the text of an image or a video and counts its tokens.
type text struct {
	b             strings.Builder
	tokens, marks int
	left          int // bytes
	err           error
}

func (t *text) String() string { return t.b.String() }

// image adds n image tokens. A negative n adds none, as in Python.
func (t *text) image(token string, n int) {
	n = max(n, 0)
	if t.add(token, n) {
		t.tokens += n
	}
}

// mark adds another token.
func (t *text) mark(token string) {
	if t.add(token, 1) {
		t.marks++
	}
}

// plain adds text that is no special token.
func (t *text) plain(s string) { t.add(s, 1) }

func (t *text) add(s string, n int) bool {
	if t.err != nil || s != "" && n > t.left/len(s) {
		if t.err == nil {
			t.err = fmt.Errorf("the text has %d more tokens %.40q than fit into %d bytes", n, s, maxText)
		}
		return false
	}
	t.left -= n * len(s)
	t.b.Grow(n * len(s))
	for range n {
		t.b.WriteString(s)
	}
	return true
}

// maxLength bounds a number of tokens that a file states.
const maxLength = 1 << 20
