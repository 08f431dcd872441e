package command

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// LiveTable is a table on a terminal that is redrawn in place. Without a
// terminal it draws nothing. It is safe for concurrent use.
type LiveTable struct {
	mu    sync.Mutex
	app   *App
	width func() int // of the terminal in characters; nil without a terminal
	lines int        // number of lines on the screen
}

// LiveTable returns a table on standard error.
func (a *App) LiveTable(quiet bool) *LiveTable {
	t := &LiveTable{app: a}
	if a.Width > 0 {
		t.width = func() int { return a.Width }
	}
	if f, ok := a.Stderr.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
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

func (t *LiveTable) Shown() bool { return t.width != nil }

// Control sequences of ECMA-48: move up some lines, and clear from the cursor
// to the end of the screen.
const (
	linesUp  = "\x1b[%dA"
	clearEnd = "\x1b[J"
)

// Draw replaces the drawing with a line of text and a table.
func (t *LiveTable) Draw(head string, make func(width int) *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	width := t.width()
	var b bytes.Buffer
	b.WriteString(head + "\n")
	_ = make(width).Write(&b) // to memory
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	var out strings.Builder
	t.up(&out)
	for _, l := range lines {
		if r := []rune(l); len(r) >= width && width > 0 { // a wrapped line would take two
			l = string(r[:width-1])
		}
		out.WriteString(l + "\n")
	}
	t.lines = len(lines)
	fmt.Fprint(t.app.Stderr, out.String())
}

// up moves to the start of the table and clears it.
func (t *LiveTable) up(out *strings.Builder) {
	if t.lines > 0 {
		fmt.Fprintf(out, linesUp, t.lines)
		out.WriteString(clearEnd)
	}
	t.lines = 0
}

// Above clears the table and calls f, which may print.
func (t *LiveTable) Above(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	t.up(&out)
	fmt.Fprint(t.app.Stderr, out.String())
	f()
}

// Clear clears the table.
func (t *LiveTable) Clear() { t.Above(func() {}) }
