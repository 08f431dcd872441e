package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// liveTable is a table on a terminal that is drawn again and again in its place,
// or nothing where there is no terminal. It may be used by several goroutines.
type liveTable struct {
	mu    sync.Mutex
	app   *app
	width func() int // of the terminal in characters; nil if there is none
	lines int        // that are on the screen
}

// liveTable is one on standard error.
func (a *app) liveTable(quiet bool) *liveTable {
	t := &liveTable{app: a}
	if a.testWidth > 0 {
		t.width = func() int { return a.testWidth }
	}
	if f, ok := a.stderr.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		t.width = func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 80
			}
			return w
		}
	}
	return t
}

func (t *liveTable) shown() bool { return t.width != nil }

// The sequences of ECMA-48 that are used, which all terminals know: a number of
// lines up, and clearing from the cursor to the end of the screen.
const (
	linesUp  = "\x1b[%dA"
	clearEnd = "\x1b[J"
)

// draw draws a line of text and a table in place of what is there.
func (t *liveTable) draw(head string, make func(width int) *table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	width := t.width()
	var b bytes.Buffer
	b.WriteString(head + "\n")
	_ = make(width).write(&b) // a buffer takes everything
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	var out strings.Builder
	t.up(&out)
	for _, l := range lines {
		if r := []rune(l); len(r) >= width && width > 0 { // a line that wraps would be two
			l = string(r[:width-1])
		}
		out.WriteString(l + "\n")
	}
	t.lines = len(lines)
	fmt.Fprint(t.app.stderr, out.String())
}

// up goes to where the table begins, and clears it.
func (t *liveTable) up(out *strings.Builder) {
	if t.lines > 0 {
		fmt.Fprintf(out, linesUp, t.lines)
		out.WriteString(clearEnd)
	}
	t.lines = 0
}

// above calls f, which may print, with the table out of the way.
func (t *liveTable) above(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	t.up(&out)
	fmt.Fprint(t.app.stderr, out.String())
	f()
}

// clear takes the table away.
func (t *liveTable) clear() { t.above(func() {}) }
