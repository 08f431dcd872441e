package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// complain prints an error on one line.
func (a *app) complain(err error) {
	fmt.Fprintln(a.stderr, a.colored(a.stderr, red, Program+": "+printable(a.advised(err))))
}

// advised returns the error's text with the flag of the running command that
// permits what it refuses.
func (a *app) advised(err error) string {
	flag, verb := "", "raises the limit"
	switch {
	case errors.Is(err, store.ErrOutside):
		flag, verb = "--allow-outside", "permits it"
	case errors.Is(err, codec.ErrPixels):
		flag = "--limit-pixels"
	case errors.Is(err, codec.ErrBytes), errors.Is(err, records.ErrTooLarge) && strings.Contains(err.Error(), "the limit is"):
		flag = "--limit-bytes"
	}
	text := withoutSecrets(strings.ReplaceAll(withFlags(err), "; store.AllowOutside permits it", ""))
	if errors.Is(err, store.ErrScheme) && !slices.Contains(store.Schemes(), "s3") {
		return text + schemeHint
	}
	if flag == "" || strings.Contains(text, flag) || a.command == nil || a.command.Flags().Lookup(flag[2:]) == nil {
		return text
	}
	return text + "; " + flag + " " + verb
}

// printable escapes control characters as in a Go string: names of files and
// graphs come from outside and must not control the terminal.
func printable(s string) string {
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

// failed reports an input that failed, on stderr and, with --json, on stdout.
func (a *app) failed(path string, err error, asJSON bool) error {
	a.complain(err)
	if !asJSON {
		return nil
	}
	return a.printLine(struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{path, a.advised(err)})
}

// printLine writes v to stdout as JSON on one line.
func (a *app) printLine(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// printJSON writes v to stdout, indented.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plural returns a number with its noun: "1 image", "2 images".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// wrap breaks text at spaces into lines of at most width characters.
func wrap(s string, width int) []string {
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

// shorten cuts s to n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// digits rounds to six digits: clocks are less precise than that.
func digits(x float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	return r
}

// short formats a figure for people. nil, an unknown figure, is "-".
func short(x *float64) string {
	switch {
	case x == nil:
		return "-"
	case *x >= 100 || *x == 0:
		return strconv.FormatFloat(*x, 'f', 0, 64)
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// bytesText formats a number with thousands separators. A negative, unknown
// number is "?".
func bytesText(n int64) string {
	if n < 0 {
		return "?"
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
