package voc

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
)

// Limits of annotations. Real ones have some kilobytes and five levels.
const (
	maxAnnotation = 16 << 20
	maxDepth      = 64
)

// object is one object of an annotation.
type object struct {
	name                 string
	box                  [4]float32 // xmin, ymin, xmax, ymax
	difficult, truncated int32
}

func readAnnotation(ctx context.Context, lists *files.Lists, o store.Opener, name string) ([]object, error) {
	f, err := lists.Open(ctx, o, name)
	if err != nil {
		return nil, err
	}
	objects, err := parse(f)
	return objects, errors.Join(err, f.Close())
}

// element is an open element. If several children have one name, the first one
// counts. An element's text is its first text, if that comes before any child.
type element struct {
	name string
	text string
	seen uint // bits of the children seen, by their index in the list of names
	busy bool // has a child or a text
	want bool // is read
}

// The children that are read, of an object and of a bndbox.
var (
	inObject = []string{"name", "difficult", "truncated", "bndbox"}
	inBox    = []string{"xmin", "ymin", "xmax", "ymax"}
)

// faults remembers the error of a reader, to tell it from one of the decoder.
type faults struct {
	r   io.Reader
	err error
}

func (f *faults) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// parse reads the objects of an annotation. The root element may have any name.
func parse(r io.Reader) (objects []object, err error) {
	source := &faults{r: r}
	limited := &io.LimitedReader{R: source, N: maxAnnotation + 1}
	d := xml.NewDecoder(limited)
	// The decoder refuses text that is not UTF-8, whatever encoding the file
	// declares.
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	fail := func(format string, args ...any) error {
		line, _ := d.InputPos()
		return fmt.Errorf("%w: line %d: %s", dataset.ErrData, line, fmt.Sprintf(format, args...))
	}
	var open []element
	ended := false
	for {
		// Raw tokens, since readers without namespaces treat xmlns as any
		// attribute.
		t, err := d.RawToken()
		if limited.N <= 0 {
			return nil, fail("more than %d bytes", maxAnnotation)
		}
		var syntax *xml.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			switch {
			case len(open) > 0:
				return nil, fail("the file ends within <%s>", open[len(open)-1].name)
			case !ended:
				return nil, fail("no element")
			case len(objects) == 0:
				return nil, fail("no object")
			}
			return objects, nil
		case errors.As(err, &syntax):
			return nil, fail("%s", syntax.Msg)
		case source.err != nil:
			return nil, source.err
		case err != nil: // an XML version other than 1.0, for example
			return nil, fail("%s", strings.TrimPrefix(err.Error(), "xml: "))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if ended && len(open) == 0 {
				return nil, fail("a second element on the outermost level")
			}
			ended = true
			if len(open) == maxDepth {
				return nil, fail("nested deeper than %d", maxDepth)
			}
			if len(open) == 1 && nameOf(t.Name) == "object" {
				objects = append(objects, object{})
			}
			e := within(nameOf(t.Name), open)
			open = append(open, e)
		case xml.CharData:
			if len(open) == 0 {
				// A byte order mark may precede the element.
				if len(bytes.TrimSpace(bytes.TrimPrefix(t, []byte("\ufeff")))) > 0 {
					return nil, fail("text outside of the element")
				}
				break
			}
			if e := &open[len(open)-1]; e.want && !e.busy && len(bytes.TrimSpace(t)) > 0 {
				e.busy = true
				e.text = string(t)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1].name != nameOf(t.Name) {
				return nil, fail("</%s> does not match an open element", nameOf(t.Name))
			}
			e := open[len(open)-1]
			open = open[:len(open)-1]
			if !e.want {
				break
			}
			if err := objects[len(objects)-1].set(&e); err != nil {
				return nil, fail("%v", err)
			}
		}
	}
}

// nameOf returns a name as written.
func nameOf(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

// first reports whether name is a listed child that e has not had before, and
// records it.
func (e *element) first(names []string, name string) bool {
	for i, n := range names {
		if n == name && e.seen&(1<<i) == 0 {
			e.seen |= 1 << i
			return true
		}
	}
	return false
}

// set stores an element of an object that has ended.
func (o *object) set(e *element) (err error) {
	switch e.name {
	case "object":
		if e.seen&(1<<3) == 0 {
			return errors.New("an object without bndbox")
		}
	case "bndbox":
		if b := o.box; !(b[0] > 0 && b[1] > 0 && b[2] > b[0] && b[3] > b[1]) {
			return fmt.Errorf("box (%g, %g) to (%g, %g), want it to start above 0 and not to be empty", b[0], b[1], b[2], b[3])
		}
	case "name":
		o.name = e.text
	case "difficult":
		o.difficult, err = e.flag()
	case "truncated":
		o.truncated, err = e.flag()
	case "xmin":
		o.box[0], err = e.number()
	case "ymin":
		o.box[1], err = e.number()
	case "xmax":
		o.box[2], err = e.number()
	case "ymax":
		o.box[3], err = e.number()
	}
	return err
}

// number parses an element's text; an empty one is 0.
func (e *element) number() (float32, error) {
	b := bytes.TrimSpace([]byte(e.text))
	if len(b) == 0 {
		return 0, nil
	}
	f, err := strconv.ParseFloat(string(b), 32)
	if err != nil || math.IsInf(f, 0) || f != f || bytes.ContainsAny(b, "xX_") {
		return 0, fmt.Errorf("%s is %.40q, want a number", e.name, e.text)
	}
	return float32(f), nil
}

// flag parses a number and drops its fraction.
func (e *element) flag() (int32, error) {
	f, err := e.number()
	if err == nil && !(f > -(1<<31) && f < 1<<31) {
		err = fmt.Errorf("%s is %g, want an int32", e.name, f)
	}
	if err != nil {
		return 0, err
	}
	return int32(f), nil
}

// within returns an element that begins within the open ones.
func within(name string, open []element) element {
	e := element{name: name}
	if len(open) == 0 {
		return e
	}
	above := &open[len(open)-1]
	above.busy = true
	switch {
	case len(open) == 1:
		e.want = name == "object"
	case len(open) == 2 && above.want:
		e.want = above.first(inObject, name)
	case len(open) == 3 && above.want && above.name == "bndbox":
		e.want = above.first(inBox, name)
	}
	return e
}
