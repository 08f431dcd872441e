package command

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Progress is a progress bar on standard error, or nothing if that is not a
// terminal. It always takes less than a line.
type Progress struct {
	W     io.Writer
	width func() int // of the terminal in characters; nil without a terminal
	total int64      // -1 if unknown
	unit  string
	Done  int64
	start time.Time
	drawn time.Time // the last drawing; zero if there is nothing on the screen
}

// redraw is the shortest time between two drawings.
const redraw = 100 * time.Millisecond

// NewProgress returns a bar that counts images.
func NewProgress(w io.Writer, total int, quiet bool) *Progress {
	return NewProgressOf(w, int64(total), "images", quiet)
}

// NewProgressOf returns a bar that counts units or, if unit is "bytes", bytes.
// A total of -1 is unknown.
func NewProgressOf(w io.Writer, total int64, unit string, quiet bool) *Progress {
	p := &Progress{W: w, total: total, unit: unit, start: time.Now()}
	if f, ok := w.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.width = func() int {
			n, _, err := term.GetSize(int(f.Fd()))
			if err != nil || n <= 0 {
				return 80
			}
			return n
		}
	}
	return p
}

// Errors of the bar mean that the terminal has gone. The work continues.

func (p *Progress) Step() { p.Add(1) }

func (p *Progress) Add(n int64) {
	if p.width == nil || n <= 0 {
		return
	}
	p.Done += n
	if now := time.Now(); now.Sub(p.drawn) >= redraw {
		p.drawn = now
		// A line is cleared after it is drawn, so that it does not flicker.
		_, _ = io.WriteString(p.W, "\r"+progressLine(p.width(), p.Done, p.total, p.unit, now.Sub(p.start))+clearLine)
	}
}

// Clear removes the bar from the screen.
func (p *Progress) Clear() {
	if p.width != nil && !p.drawn.IsZero() {
		_, _ = io.WriteString(p.W, "\r"+clearLine)
		p.drawn = time.Time{}
	}
}

// clearLine clears from the cursor to the end of the line (ECMA-48).
const clearLine = "\x1b[K"

// progressLine returns a line of less than width characters: a share, a bar, a
// count, a speed, and the time that is left. Narrow lines omit the bar, then
// the time, then the speed.
func progressLine(width int, done, total int64, unit string, took time.Duration) string {
	const shortest = 10 // a bar
	number := func(n float64) string {
		if unit == "bytes" {
			return ByteSize(n)
		}
		return fmt.Sprintf("%.0f", n)
	}
	share, count := "", number(float64(done))
	if total > 0 {
		share = fmt.Sprintf("%3d %%", min(done*100/total, 100))
		count += "/" + number(float64(total))
	}
	each := "images"
	if unit != "bytes" {
		each = unit
	} else {
		each = ""
	}
	parts := []string{count}
	if rate := float64(done) / took.Seconds(); took > 0 && !math.IsInf(rate, 0) && done > 0 {
		speed := number(rate) + "/s"
		if each != "" {
			speed = number(rate) + " " + each + "/s"
		}
		parts = append(parts, speed)
		if total > done {
			left := time.Duration(float64(total-done) / rate * float64(time.Second)).Round(time.Second)
			parts = append(parts, left.String()+" left")
		}
	}
	room := width - 1
	for n := len(parts); n > 0; n-- {
		text := strings.Join(parts[:n], ", ")
		if share != "" {
			bar := room - utf8.RuneCountInString(share+"   "+text)
			if n == len(parts) && bar >= shortest {
				full := int(int64(bar) * min(done, total) / total)
				return share + " " + strings.Repeat("█", full) + strings.Repeat("░", bar-full) + "  " + text
			}
			text = share + "  " + text
		}
		if utf8.RuneCountInString(text) <= room {
			return text
		}
	}
	if share != "" && len(share) <= room {
		return share
	}
	if len(count) <= room {
		return count
	}
	return ""
}

// ByteSize formats a number of bytes: "1.5 MB".
func ByteSize(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	i := 0
	for n >= 999.5 && i < len(units)-1 {
		n, i = n/1000, i+1
	}
	if i == 0 || n >= 99.95 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}
