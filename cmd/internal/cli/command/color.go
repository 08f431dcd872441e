package command

import (
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

// The values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// The styles of ECMA-48.
const (
	Bold  = "1"
	Red   = "31"
	Green = "32"
)

// Colored returns s in a style if w shows styles.
func (a *App) Colored(w io.Writer, style, s string) string {
	if s == "" || !a.hasColor(w) {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

// hasColor reports whether text for w may have styles: always or never if
// --color says so, else on a terminal that is not dumb, unless NO_COLOR is set
// to anything (no-color.org).
func (a *App) hasColor(w io.Writer) bool {
	switch a.Color {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	env := a.Getenv
	if env == nil {
		env = os.Getenv
	}
	if env("NO_COLOR") != "" || env("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" && env("WT_SESSION") == "" && env("TERM") == "" {
		return false // an old console prints the sequences
	}
	if a.Styles {
		return true
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
