package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on standard error, or nothing where that is no terminal.
type progress struct {
	bar *progressbar.ProgressBar
}

func newProgress(w io.Writer, total int, quiet bool) *progress {
	f, ok := w.(*os.File)
	if !ok || quiet || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("images"),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)}
}

// The bar's errors are those of a terminal that went away; the work goes on.

func (p *progress) step() {
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
