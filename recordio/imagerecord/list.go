package imagerecord

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/bom"
)

// Item is a line of a .lst file: a number, labels, and the path of an image
// relative to a folder.
type Item struct {
	Index  uint64
	Labels []float32
	Path   string
}

// maxLine is the size of the longest line: a path and the labels of some
// thousand boxes.
const maxLine = 1 << 20

// ReadList reads a .lst file: fields separated by tabs, the number first and
// the path last. Errors name the line.
func ReadList(name string, r io.Reader) (l []Item, err error) {
	for i, err := range Items(name, r) {
		if err != nil {
			return nil, err
		}
		l = append(l, i)
	}
	return l, nil
}

// Items reads a .lst file as ReadList does, one item after another, and keeps
// one line in memory. An error is the last of the iteration. The labels of an
// item belong to the caller.
func Items(name string, r io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		s := bufio.NewScanner(bom.NewReader(r))
		s.Buffer(nil, maxLine)
		line := 0
		for s.Scan() {
			line++
			if len(bytes.TrimSpace(s.Bytes())) == 0 {
				continue
			}
			i, err := parseItem(s.Bytes())
			if err != nil {
				err = fmt.Errorf("imagerecord: %s:%d: %w", name, line, err)
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield(Item{}, fmt.Errorf("imagerecord: %s:%d: %w", name, line+1, err))
		}
	}
}

// ErrList reports an invalid line of a list.
var ErrList = errors.New("invalid line of a list")

func parseItem(b []byte) (i Item, err error) {
	f := bytes.Split(b, []byte("\t"))
	if len(f) < 3 {
		return i, fmt.Errorf("%w: %d fields, want a number, labels and a path with tabs between", ErrList, len(f))
	}
	// im2rec parses the number as a float and writes an integer.
	if i.Index, err = strconv.ParseUint(string(bytes.TrimSpace(f[0])), 10, 64); err != nil {
		n, ferr := strconv.ParseFloat(string(bytes.TrimSpace(f[0])), 64)
		if ferr != nil || !(n >= 0 && n < 1<<53) || n != float64(uint64(n)) {
			return i, fmt.Errorf("%w: %q, want a number", ErrList, f[0])
		}
		i.Index = uint64(n)
	}
	for _, x := range f[1 : len(f)-1] {
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(x)), 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return i, fmt.Errorf("%w: label %q, want a number", ErrList, x)
		}
		i.Labels = append(i.Labels, float32(v))
	}
	i.Path = string(bytes.TrimSpace(f[len(f)-1]))
	if i.Path == "" || !utf8.ValidString(i.Path) {
		return i, fmt.Errorf("%w: path %q", ErrList, i.Path)
	}
	return i, nil
}

// Append appends the item's line to b as im2rec writes it, with six decimals
// for labels.
func (i *Item) Append(b []byte) []byte {
	b = strconv.AppendUint(b, i.Index, 10)
	for _, l := range i.Labels {
		b = append(b, '\t')
		b = strconv.AppendFloat(b, float64(l), 'f', 6, 64)
	}
	b = append(b, '\t')
	b = append(b, i.Path...)
	return append(b, '\n')
}
