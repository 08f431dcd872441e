package voc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
)

// The limits of annotations, whose real ones have some kilobytes and five levels.
const (
	maxAnnotation = 16 << 20
	maxDepth      = 64
)

// object is an object element of an annotation.
type object struct {
	name                 string
	box                  [4]float32 // xmin, ymin, xmax, ymax
	difficult, truncated int32
}

func readAnnotation(name string) ([]object, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f)
}

// element is an element that is open. Of an element's children of one name the
// first counts, and of its texts the first, if it comes before any child.
type element struct {
	name string
	text string
	seen uint // bits of the children that came, in the order of their names' list
	busy bool // has a child or a text
	want bool // is an element that is looked at
}

// Names of children that are looked at, of an object and of a bndbox.
var (
	inObject = []string{"name", "difficult", "truncated", "bndbox"}
	inBox    = []string{"xmin", "ymin", "xmax", "ymax"}
)

// parse reads the objects of an annotation, an element of any name.
func parse(r io.Reader) (objects []object, err error) {
	limited := &io.LimitedReader{R: r, N: maxAnnotation + 1}
	d := xml.NewDecoder(limited)
	// What is not UTF-8 is an error, whatever encoding the file claims to have.
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	fail := func(format string, args ...any) error {
		line, _ := d.InputPos()
		return fmt.Errorf("%w: line %d: %s", dataset.ErrData, line, fmt.Sprintf(format, args...))
	}
	var open []element
	ended := false
	for {
		// Raw, since to readers without namespaces xmlns is an attribute like others.
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
		case err != nil:
			return nil, err
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
			e := element{name: nameOf(t.Name)}
			if len(open) > 0 {
				above := &open[len(open)-1]
				above.busy = true
				switch {
				case len(open) == 1 && e.name == "object":
					objects = append(objects, object{})
					e.want = true
				case len(open) == 2 && above.want:
					e.want = above.first(inObject, e.name)
				case len(open) == 3 && above.want && above.name == "bndbox":
					e.want = above.first(inBox, e.name)
				}
			}
			open = append(open, e)
		case xml.CharData:
			if len(open) == 0 {
				// Before it there may be a byte order mark.
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
				return nil, fail("</%s> ends nothing that is open", nameOf(t.Name))
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

// nameOf is a name as it is written.
func nameOf(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

// first says whether e had no child of a listed name before, and notes it.
func (e *element) first(names []string, name string) bool {
	for i, n := range names {
		if n == name && e.seen&(1<<i) == 0 {
			e.seen |= 1 << i
			return true
		}
	}
	return false
}

// set takes an element that ended, of an object or within it.
func (o *object) set(e *element) (err error) {
	switch e.name {
	case "object":
		if e.seen&(1<<3) == 0 {
			return errors.New("an object without bndbox")
		}
	case "bndbox":
		if b := o.box; !(b[0] > 0 && b[1] > 0 && b[2] > b[0] && b[3] > b[1]) {
			return fmt.Errorf("box (%g, %g) to (%g, %g), want it to begin above 0 and not to be empty", b[0], b[1], b[2], b[3])
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

// number is an element's text, 0 if there is none.
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

// flag is a number without its fraction.
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
