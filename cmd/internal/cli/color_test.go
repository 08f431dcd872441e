package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// onTerminal runs the program as on a terminal with these variables.
func onTerminal(t *testing.T, env map[string]string, args ...string) called {
	var out, errs bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, testTerminal: true, getenv: func(name string) string {
		if name == "TERM" && env["TERM"] == "" {
			return "xterm"
		}
		return env[name]
	}}
	status := a.run(t.Context(), args)
	return called{status, out.String(), errs.String()}
}

func TestColor(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1), "b.png": pngBytes(t, 5, 4, 2)})
	at := func(n string) string { return filepath.Join(dir, n) }
	for _, n := range []string{"a", "b"} {
		require.Equal(t, exitOK, call(t, "run", "--preset", "decode", "-q", "-o", dir, at(n+".png")).status)
	}
	a, b := at("a.png.npy"), at("b.png.npy")
	const sequence = "\x1b["
	differ := []string{"diff", a, b}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want bool
	}{
		{"terminal", nil, differ, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, differ, false},
		{"dumb", map[string]string{"TERM": "dumb"}, differ, false},
		{"never", nil, append(differ, "--color", "never"), false},
		{"always", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, append([]string{"--color=always"}, differ...), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := onTerminal(t, c.env, c.args...)
			require.Equal(t, exitFailed, r.status, r.stderr)
			require.Equal(t, c.want, strings.Contains(r.stdout, sequence), "%q", r.stdout)
		})
	}
	require.Contains(t, onTerminal(t, nil, "diff", a, a).stdout, "\x1b[32mequal\x1b[0m: ")
	require.Contains(t, onTerminal(t, nil, differ...).stdout, "\x1b[31m")
	r := onTerminal(t, nil, "diff", a, at("none.npy"))
	require.True(t, strings.HasPrefix(r.stderr, "\x1b[31minfer-prep: "), "%q", r.stderr)

	// Pipes get the plain text, which styles do not change.
	plain := call(t, differ...)
	require.NotContains(t, plain.stdout+plain.stderr, sequence)
	styled := onTerminal(t, nil, differ...).stdout
	for _, s := range []string{bold, red, green, "0"} {
		styled = strings.ReplaceAll(styled, "\x1b["+s+"m", "")
	}
	require.Equal(t, plain.stdout, styled)
	r = call(t, append(differ, "--color", "blue")...)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, `--color "blue": want auto, always or never`)
}

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
		p := newProgress(io.Writer(&out), 3, false)
		require.Nil(t, p.width, "a buffer is no terminal")
		p.step()
		require.Empty(t, out.String())
		p.width = func() int { return width }
		for range 3 {
			p.drawn = time.Time{}
			p.step()
		}
		p.clear()
		p.clear()
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
