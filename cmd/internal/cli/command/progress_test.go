package command

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestProgressFits: the bar never fills a line, so that it does not wrap.
func TestProgressFits(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{1, ""},
		{10, "12500"},
		{20, " 12 %  12500/100000"},
		{40, " 12 %  12500/100000, 1250 images/s"},
		{80, " 12 % ██░░░░░░░░░░░░░░░░░░  12500/100000, 1250 images/s, 1m10s left"},
	} {
		got := progressLine(c.width, 12500, 100000, "images", 10*time.Second)
		if c.width == 10 {
			require.LessOrEqual(t, utf8.RuneCountInString(got), 9)
			continue
		}
		require.Less(t, utf8.RuneCountInString(got), c.width, got)
		if c.width == 80 { // the bar takes what is left
			require.Regexp(t, `^ 12 % █+░+  12500/100000, 1250 images/s, 1m10s left$`, got)
			require.Equal(t, 79, utf8.RuneCountInString(got))
			continue
		}
		require.Equal(t, c.want, got)
	}
	for width := range 200 {
		for _, total := range []int64{-1, 0, 1, 1000, 1 << 50} {
			for _, done := range []int64{0, 1, 999, 1 << 50} {
				for _, unit := range []string{"images", "bytes", "records"} {
					for _, took := range []time.Duration{0, 1, time.Second, 1000 * time.Hour} {
						got := progressLine(width, done, total, unit, took)
						require.LessOrEqual(t, utf8.RuneCountInString(got), max(0, width-1), "%d %d %d %s %v: %q", width, done, total, unit, took, got)
						require.NotContains(t, got, "NaN")
						require.NotContains(t, got, "Inf")
					}
				}
			}
		}
	}
	require.Equal(t, "50 %", strings.TrimSpace(progressLine(6, 1, 2, "images", time.Second)))
	require.Equal(t, "1.5 MB/3.0 MB", strings.TrimPrefix(strings.Split(progressLine(40, 1.5e6, 3e6, "bytes", time.Second), ",")[0], " 50 %  "))
}

// TestProgressOnTerminal: the bar draws and clears one line.
func TestProgressOnTerminal(t *testing.T) {
	for _, width := range []int{20, 40, 80} {
		var out bytes.Buffer
		p := NewProgress(io.Writer(&out), 3, false)
		require.Nil(t, p.width, "a buffer is no terminal")
		p.Step()
		require.Empty(t, out.String())
		p.width = func() int { return width }
		for range 3 {
			p.drawn = time.Time{}
			p.Step()
		}
		p.Clear()
		p.Clear()
		lines := strings.Split(out.String(), "\r")
		require.Len(t, lines, 5, fmt.Sprintf("%q", out.String()))
		for _, l := range lines[1:] {
			l, ok := strings.CutSuffix(l, clearLine)
			require.True(t, ok)
			require.Less(t, utf8.RuneCountInString(l), width)
		}
		require.NotContains(t, out.String(), "\n")
	}
}
