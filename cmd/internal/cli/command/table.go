package command

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table is text in columns. The last cell of a row is not padded.
type Table struct {
	rows [][]string
}

//go:noinline
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *Table) Write(w io.Writer) error {
	var width []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			if i < len(r)-1 {
				width[i] = max(width[i], utf8.RuneCountInString(c))
			}
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		var line strings.Builder
		for i, c := range r {
			line.WriteString(c)
			if i < len(r)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
