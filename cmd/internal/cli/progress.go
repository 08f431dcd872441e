package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a progress bar on standard error, or nothing if that is not a
// terminal.
type progress struct {
	bar *progressbar.ProgressBar
}

// newProgress returns a bar that counts images.
func newProgress(w io.Writer, total int, quiet bool) *progress {
	return newProgressOf(w, int64(total), "images", quiet)
}

// newProgressOf returns a bar that counts units or, if unit is "bytes", bytes.
// A total of -1 is unknown.
func newProgressOf(w io.Writer, total int64, unit string, quiet bool) *progress {
	f, ok := w.(*os.File)
	if !ok || quiet || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	show := progressbar.OptionShowIts()
	if unit == "bytes" {
		show = progressbar.OptionShowBytes(true)
	}
	return &progress{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		show,
		progressbar.OptionSetItsString(unit),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)}
}

// Errors of the bar mean that the terminal has gone. The work continues.

func (p *progress) step() { p.add(1) }

func (p *progress) add(n int64) {
	if p.bar != nil && n > 0 {
		_ = p.bar.Add64(n)
	}
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
