package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// Complain prints an error on one line.
func (a *App) Complain(err error) {
	fmt.Fprintln(a.Stderr, a.Colored(a.Stderr, Red, Program+": "+Printable(a.Advised(err))))
}

// Advised returns the error's text with the flag of the running command that
// permits what it refuses.
func (a *App) Advised(err error) string {
	flag, verb := "", "raises the limit"
	switch {
	case errors.Is(err, store.ErrOutside):
		flag, verb = "--allow-outside", "permits it"
	case errors.Is(err, codec.ErrPixels):
		flag = "--limit-pixels"
	case errors.Is(err, codec.ErrBytes), errors.Is(err, records.ErrTooLarge) && strings.Contains(err.Error(), "the limit is"):
		flag = "--limit-bytes"
	}
	text := WithoutSecrets(strings.ReplaceAll(withFlags(err), "; store.AllowOutside permits it", ""))
	if errors.Is(err, store.ErrScheme) {
		return text + InFull("stores for s3, gs, az and hdfs")
	}
	if flag == "" || strings.Contains(text, flag) || a.Command == nil || a.Command.Flags().Lookup(flag[2:]) == nil {
		return text
	}
	return text + "; " + flag + " " + verb
}

// Printable escapes control characters as in a Go string: names of files and
// graphs come from outside and must not control the terminal.
func Printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if unicode.IsPrint(r) && !(r == utf8.RuneError && n == 1) {
			b.WriteString(s[:n])
		} else {
			q := strconv.Quote(s[:n])
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// Failed reports an input that failed, on stderr and, with --json, on stdout.
func (a *App) Failed(path string, err error, asJSON bool) error {
	a.Complain(err)
	if !asJSON {
		return nil
	}
	return a.PrintLine(struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{path, a.Advised(err)})
}

// PrintLine writes v to stdout as JSON on one line.
func (a *App) PrintLine(v any) error {
	e := json.NewEncoder(a.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// PrintJSON writes v to stdout, indented.
func (a *App) PrintJSON(v any) error {
	e := json.NewEncoder(a.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Plural returns a number with its noun: "1 image", "2 images".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Wrap breaks text at spaces into lines of at most width characters.
func Wrap(s string, width int) []string {
	lines := []string{""}
	for _, w := range strings.Fields(s) {
		n := len(lines) - 1
		switch {
		case lines[n] == "":
			lines[n] = w
		case utf8.RuneCountInString(lines[n])+1+utf8.RuneCountInString(w) <= width:
			lines[n] += " " + w
		default:
			lines = append(lines, w)
		}
	}
	return lines
}

// Shorten cuts s to n characters.
func Shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Digits rounds to six digits: clocks are less precise than that.
func Digits(x float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	return r
}

// Short formats a figure for people. nil, an unknown figure, is "-".
func Short(x *float64) string {
	switch {
	case x == nil:
		return "-"
	case *x >= 100 || *x == 0:
		return strconv.FormatFloat(*x, 'f', 0, 64)
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// BytesText formats a number with thousands separators. A negative, unknown
// number is "?".
func BytesText(n int64) string {
	if n < 0 {
		return "?"
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
