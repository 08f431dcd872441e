package cli

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

// The values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// The styles of ECMA-48.
const (
	bold  = "1"
	red   = "31"
	green = "32"
)

// colored returns s in a style if w shows styles.
func (a *app) colored(w io.Writer, style, s string) string {
	if s == "" || !a.hasColor(w) {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// hasColor reports whether text for w may have styles: always or never if
// --color says so, else on a terminal that is not dumb, unless NO_COLOR is set
// to anything (no-color.org).
func (a *app) hasColor(w io.Writer) bool {
	switch a.color {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	env := a.getenv
	if env == nil {
		env = os.Getenv
	}
	if env("NO_COLOR") != "" || env("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" && env("WT_SESSION") == "" && env("TERM") == "" {
		return false // an old console prints the sequences
	}
	if a.testTerminal {
		return true
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
