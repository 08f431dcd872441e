package imagelist

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// Pairs calls each with line n of one text file and line n of another, without
// white space at their ends. Empty lines count. Both must have as many lines.
func (l *List) Pairs(ctx context.Context, a, b string, each func(x, y string) error) (err error) {
	names := [2]string{store.Join(l.Dir, a), store.Join(l.Dir, b)}
	var scanners [2]*bufio.Scanner
	for i, n := range names {
		f, openErr := l.lists.Open(ctx, l.Folder, n)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		scanners[i] = scanner(f)
	}
	for n := 1; ; n++ {
		var lines [2]string
		var more [2]bool
		for i, s := range scanners {
			if more[i] = s.Scan(); !more[i] && s.Err() != nil {
				return lineError(names[i], n, s.Err())
			}
			lines[i] = strings.TrimSpace(s.Text())
		}
		switch {
		case !more[0] && !more[1]:
			return nil
		case !more[0]:
			return fmt.Errorf("%w: %s:%d: the file ends before %s", dataset.ErrData, store.Redact(names[0]), n, store.Redact(names[1]))
		case !more[1]:
			return fmt.Errorf("%w: %s:%d: the file ends before %s", dataset.ErrData, store.Redact(names[1]), n, store.Redact(names[0]))
		}
		if err := each(lines[0], lines[1]); err != nil {
			return fmt.Errorf("%w: %s:%d: %w", dataset.ErrData, store.Redact(names[0]), n, err)
		}
	}
}

func scanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	return s
}

// lineError is the error of a Scanner at a line.
func lineError(name string, n int, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: %s:%d: a line of more than %d bytes", dataset.ErrData, store.Redact(name), n, maxLine)
	}
	return fmt.Errorf("%s:%d: %w", store.Redact(name), n, err)
}
