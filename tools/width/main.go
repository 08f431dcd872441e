// Command width checks the width of comments in the module's Go files and of
// prose in its Markdown files.
//
//	go run ./tools/width [FILE...]
//
// Without arguments it checks every file that git tracks. A Go comment may have
// 80 columns, where a tab counts 4, and a line of Markdown prose 100. Lines
// that cannot be wrapped are exempt: code blocks, tables, directives, expected
// output of examples, and lines without a space to break at. It prints each
// line that is too wide and exits with status 1 if there is one.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	goColumns       = 80
	markdownColumns = 100
	tabColumns      = 4
)

func main() {
	files := os.Args[1:]
	if len(files) == 0 {
		out, err := exec.Command("git", "ls-files", "-z", "*.go", "*.md").Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "width: git ls-files: %v\n", err)
			os.Exit(2)
		}
		files = strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	}
	wide := 0
	for _, name := range files {
		f, err := os.Open(name)
		if os.IsNotExist(err) {
			continue // tracked, but deleted in the working tree
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "width:", err)
			os.Exit(2)
		}
		lines, err := check(name, f)
		f.Close()
		if err != nil {
			fmt.Fprintf(os.Stderr, "width: %s: %v\n", name, err)
			os.Exit(2)
		}
		for _, l := range lines {
			fmt.Println(l)
		}
		wide += len(lines)
	}
	if wide > 0 {
		fmt.Fprintf(os.Stderr, "width: %d lines are too wide\n", wide)
		os.Exit(1)
	}
}

var (
	generated = regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)
	directive = regexp.MustCompile(`^//(go:|msgp:|nolint|line |export |\t)`)
	expected  = regexp.MustCompile(`^// (Unordered output|Output):`)
	literal   = regexp.MustCompile(`^(\||#|<|\[[^\]]*\]:)`)
)

// check returns a message for each line of a Go or Markdown file that is too
// wide. Generated files have none.
func check(name string, r io.Reader) (wide []string, err error) {
	isGo := filepath.Ext(name) == ".go"
	var fenced, output bool
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		text := strings.TrimSpace(line)
		limit := markdownColumns
		if isGo {
			limit = goColumns
			if generated.MatchString(line) {
				return nil, nil
			}
			if !strings.HasPrefix(text, "//") {
				output = false
				continue
			}
			output = output || expected.MatchString(text)
			if output || directive.MatchString(text) {
				continue
			}
			text = strings.TrimSpace(strings.TrimLeft(text, "/"))
		} else {
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
				continue
			}
			if fenced || literal.MatchString(text) || strings.HasPrefix(line, "    ") && !strings.HasPrefix(text, "-") {
				continue
			}
		}
		if w := columns(line); w > limit && strings.Contains(text, " ") {
			wide = append(wide, fmt.Sprintf("%s:%d: %d columns, want at most %d", name, n, w, limit))
		}
	}
	return wide, s.Err()
}

// columns returns the width of a line.
func columns(s string) int {
	return utf8.RuneCountInString(s) + (tabColumns-1)*strings.Count(s, "\t")
}
