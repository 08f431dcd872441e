package imagelist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// maxLine exceeds the longest line of these lists, which hold a path and some
// numbers.
const maxLine = 1 << 16

// Lines calls each with the lines of a text file, without white space at their
// ends. It skips empty lines. An error of each gets the file's name and the
// line's number, and wraps dataset.ErrData. The files that all calls of Lines
// for a List read may have files.ListLimit bytes together.
func (l *List) Lines(ctx context.Context, name string, each func(line string) error) (err error) {
	name = store.Join(l.Dir, name)
	f, err := l.lists.Open(ctx, l.Folder, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return Lines(f, name, each)
}

// Lines is List.Lines for the file name, which r reads.
func Lines(r io.Reader, name string, each func(line string) error) error {
	s := scanner(r)
	n := 0
	for s.Scan() {
		n++
		t := strings.TrimSpace(s.Text())
		if t == "" {
			continue
		}
		if err := each(t); err != nil {
			return fmt.Errorf("%w: %s:%d: %w", dataset.ErrData, store.Redact(name), n, err)
		}
	}
	if err := s.Err(); err != nil {
		return lineError(name, n+1, err)
	}
	return nil
}

// Names reads the names of classes, one a line, and numbers them from 0.
func (l *List) Names(ctx context.Context, file string, name func(line string) string) error {
	l.Classes = map[string]int32{}
	return l.Lines(ctx, file, func(line string) error {
		n := name(line)
		if _, ok := l.Classes[n]; ok || n == "" {
			return fmt.Errorf("class %q, want distinct names", n)
		}
		l.Classes[n] = int32(len(l.Classes))
		return nil
	})
}

// Int parses a number from 0 to below n, the number of classes for example.
func Int(s, what string, n int) (int32, error) {
	v, err := strconv.ParseInt(s, 10, 32)
	if n < 1 {
		return 0, fmt.Errorf("%s %.80q, want none", what, s)
	}
	if err != nil || v < 0 || v >= int64(n) {
		return 0, fmt.Errorf("%s %.80q, want 0 to %d", what, s, n-1)
	}
	return int32(v), nil
}

// Number numbers classes from 0 in the order of names.
func Number(names []string) map[string]int32 {
	m := make(map[string]int32, len(names))
	for i, n := range names {
		m[n] = int32(i)
	}
	return m
}
