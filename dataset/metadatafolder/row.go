package metadatafolder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// kind is the type of a value's elements.
type kind uint8

// The kinds. A column of ints and floats is one of floats.
const (
	null kind = iota
	boolean
	integer
	float
	text
	object // within a list
)

var kindNames = [...]string{"without a value", "true or false", "a number", "a number", "text", "an object"}

// value is a value of a row.
type value struct {
	name   string
	kind   kind
	rank   int
	dims   [tensor.MaxRank]int
	ragged bool // lists of different lengths
	nulls  bool // null within a list
	leaf   int  // the lists around each element, and 1; 0 without elements
	csv    bool
	text   []byte
	nums   []float64
	ints   []int64
}

// row is the values of a row, with the names of the metadata. Its memory is
// used again.
type row struct {
	values []value
	r      bytes.Reader
}

func (r *row) reset() { r.values = r.values[:0] }

// put returns a new value.
func (r *row) put(name string) *value {
	n := len(r.values)
	if n < cap(r.values) {
		r.values = r.values[:n+1]
	} else {
		r.values = append(r.values, value{})
	}
	v := &r.values[n]
	*v = value{name: name, text: v.text[:0], nums: v.nums[:0], ints: v.ints[:0]}
	return v
}

// find returns a value, or nil.
func (r *row) find(name string) *value {
	for i := range r.values {
		if r.values[i].name == name {
			return &r.values[i]
		}
	}
	return nil
}

// maxDepth bounds nested objects.
const maxDepth = 100

// json parses a line.
func (r *row) json(line []byte) error {
	r.r.Reset(line)
	d := json.NewDecoder(&r.r)
	d.UseNumber()
	t, err := d.Token()
	if err == nil && t != json.Delim('{') {
		err = fmt.Errorf("it begins with %v, want an object", t)
	}
	if err == nil {
		err = r.object(d, "", 0)
	}
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("text after the object")
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the line ends within an object")
	}
	return err
}

// object parses the rest of an object, whose fields have names with a prefix.
func (r *row) object(d *json.Decoder, prefix string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("objects more than %d deep", maxDepth)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name := prefix + t.(string)
		if r.find(name) != nil {
			return fmt.Errorf("two members %q", name)
		}
		if t, err = d.Token(); err != nil {
			return err
		}
		if t == json.Delim('{') {
			if err := r.object(d, name+".", depth+1); err != nil {
				return err
			}
			continue
		}
		v := r.put(name)
		if err := v.json(d, t, 0); err != nil {
			return fmt.Errorf("member %q: %w", name, err)
		}
	}
	_, err := d.Token()
	return err
}

// json parses the value that begins with t, in so many lists.
func (v *value) json(d *json.Decoder, t json.Token, depth int) error {
	switch x := t.(type) {
	case json.Delim:
		if depth > maxDepth {
			return fmt.Errorf("lists more than %d deep", maxDepth)
		}
		if x == '{' {
			v.element(object, depth)
			for d.More() {
				if _, err := d.Token(); err != nil {
					return err
				}
				var skip json.RawMessage
				if err := d.Decode(&skip); err != nil {
					return err
				}
			}
			_, err := d.Token()
			return err
		}
		n := 0
		for ; d.More(); n++ {
			t, err := d.Token()
			if err != nil {
				return err
			}
			if err := v.json(d, t, depth+1); err != nil {
				return err
			}
		}
		if _, err := d.Token(); err != nil {
			return err
		}
		if depth >= tensor.MaxRank {
			v.rank = depth + 1
			return nil
		}
		if v.rank <= depth {
			v.rank = depth + 1
		}
		switch have := v.dims[depth]; {
		case have == 0: // none yet, as its size and 1
			v.dims[depth] = n + 1
		case have != n+1:
			v.ragged = true
		}
	case string:
		v.element(text, depth)
		if depth == 0 {
			v.text = append(v.text, x...)
		}
	case json.Number:
		if i, err := strconv.ParseInt(string(x), 10, 64); err == nil {
			v.element(integer, depth)
			v.ints, v.nums = append(v.ints, i), append(v.nums, float64(i))
			return nil
		}
		f, err := x.Float64()
		if err != nil {
			return fmt.Errorf("%s overflows a number of 64 bits", x)
		}
		v.element(float, depth)
		v.ints, v.nums = append(v.ints, 0), append(v.nums, f)
	case bool:
		v.element(boolean, depth)
		n := int64(0)
		if x {
			n = 1
		}
		v.ints, v.nums = append(v.ints, n), append(v.nums, 0)
	case nil:
		v.nulls = v.nulls || depth > 0
	}
	return nil
}

// numbers reports whether values of two kinds are floats together.
func numbers(a, b kind) bool { return a == integer && b == float || a == float && b == integer }

// element adds an element of a kind in so many lists.
func (v *value) element(k kind, depth int) {
	v.rank = max(v.rank, depth)
	v.ragged = v.ragged || v.leaf != 0 && v.leaf != depth+1
	v.leaf = depth + 1
	switch {
	case v.kind == null:
		v.kind = k
	case numbers(v.kind, k):
		v.kind = float
	case v.kind != k:
		v.kind = object // of several kinds
	}
}

// missing are the texts that pandas reads as no value.
var missing = map[string]bool{
	"": true, "#N/A": true, "#N/A N/A": true, "#NA": true, "-1.#IND": true, "-1.#QNAN": true, "-NaN": true, "-nan": true, "1.#IND": true,
	"1.#QNAN": true, "<NA>": true, "N/A": true, "NA": true, "NULL": true, "NaN": true, "None": true, "n/a": true, "nan": true, "null": true,
}

// field adds a field of a CSV file, with the type that pandas finds in it.
func (r *row) field(name string, b []byte) {
	v := r.put(name)
	v.csv, v.text = true, append(v.text, b...)
	s := string(b)
	trimmed := strings.Trim(s, " \t")
	switch {
	case missing[s]:
	case s == "True" || s == "TRUE" || s == "true":
		v.kind, v.ints = boolean, append(v.ints, 1)
	case s == "False" || s == "FALSE" || s == "false":
		v.kind, v.ints = boolean, append(v.ints, 0)
	default:
		v.kind = text
		if i, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
			v.kind, v.ints, v.nums = integer, append(v.ints, i), append(v.nums, float64(i))
		} else if f, ok := number(trimmed); ok {
			v.kind, v.ints, v.nums = float, append(v.ints, 0), append(v.nums, f)
		}
	}
}

// number parses a decimal number or infinity.
func number(s string) (float64, bool) {
	rest := strings.TrimLeft(s, "+-")
	if rest == "" || len(s)-len(rest) > 1 {
		return 0, false
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity":
	default:
		if strings.Trim(rest, "0123456789.eE+-") != "" {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// set stores a value of the column's type in to.
func (v *value) set(to *dataset.Value, d tensor.Desc) error {
	if d.DType == tensor.Bytes {
		copy(to.Bytes(len(v.text)), v.text)
		return nil
	}
	if v.ragged || v.leaf != 0 && v.leaf != v.rank+1 {
		return errors.New("lists of different lengths")
	}
	if v.nulls {
		return errors.New("null within a list")
	}
	rank := d.Shape.Rank()
	d.Shape = tensor.Shape{}
	for a := range rank {
		d.Shape = d.Shape.Append(max(v.dims[a]-1, 0))
	}
	if d.Shape.Len() != int64(len(v.ints)) {
		return fmt.Errorf("%d elements in lists of %v", len(v.ints), d.Shape)
	}
	if err := to.Reset(d); err != nil {
		return err
	}
	switch d.DType {
	case tensor.Float64:
		copy(tensor.View[float64](&to.Tensor), v.nums)
	case tensor.Int64:
		copy(tensor.View[int64](&to.Tensor), v.ints)
	default:
		for i, x := range v.ints {
			to.Data[i] = byte(x)
		}
	}
	return nil
}

// types finds the types of columns.
type types struct {
	all []typed
	at  map[string]int
}

type typed struct {
	column
	kind kind
	rank int
	flat bool // some value is no list
	gaps bool // a field of a CSV file is missing
	bad  string
}

// maxColumns bounds the columns.
const maxColumns = 1 << 16

// add adds a row. Its error is a column whose values have different types.
func (t *types) add(r *row) error {
	for i := range r.values {
		v := &r.values[i]
		k, ok := t.at[v.name]
		if !ok {
			if k = len(t.all); k == maxColumns {
				return fmt.Errorf("more than %d columns", maxColumns)
			}
			t.at[v.name] = k
			t.all = append(t.all, typed{column: column{name: v.name, from: v.name}})
		}
		c := &t.all[k]
		c.gaps = c.gaps || v.csv && v.kind == null
		if v.kind != null || v.rank > 0 {
			if v.rank == 0 && c.rank > 0 || v.rank > 0 && c.flat || v.kind != null && c.kind != null && v.rank != c.rank {
				return fmt.Errorf("column %q has lists of another depth than in earlier rows", v.name)
			}
			c.rank, c.flat = max(c.rank, v.rank), v.rank == 0
		}
		switch {
		case v.kind == null || v.kind == c.kind:
		case c.kind == null:
			c.kind = v.kind
		case numbers(v.kind, c.kind):
			c.kind = float
		case v.csv:
			c.kind = text // as pandas makes it
		default:
			return fmt.Errorf("column %q is %s, and %s in earlier rows", v.name, kindNames[v.kind], kindNames[c.kind])
		}
	}
	return nil
}

// columns returns the columns.
func (t *types) columns() []typed {
	for i := range t.all {
		c := &t.all[i]
		if c.gaps && c.kind == integer {
			c.kind = float // as in pandas
		}
		name, many := strings.CutSuffix(c.from, "file_names")
		if many && (name == "" || strings.HasSuffix(name, "_")) && c.rank == 1 {
			c.bad = "a list of files"
			continue
		}
		if name, ok := strings.CutSuffix(c.from, "file_name"); ok && (name == "" || strings.HasSuffix(name, "_")) && c.kind == text && c.rank == 0 && !strings.Contains(name, ".") {
			c.file = true
			if c.name = strings.TrimSuffix(name, "_"); c.name == "" {
				c.name = "image"
			}
		}
		c.desc.DType = [...]tensor.DType{boolean: tensor.Bool, integer: tensor.Int64, float: tensor.Float64, text: tensor.Bytes, object: tensor.Bytes}[c.kind]
		switch {
		case c.name == "":
			c.bad = "without a name"
		case c.kind == null:
			c.bad = "without a value in any row"
		case c.kind == object:
			c.bad = "a list of objects, or of elements of several types"
		case c.kind == text && c.rank > 0:
			c.bad = "a list of texts"
		case c.rank > tensor.MaxRank:
			c.bad = fmt.Sprintf("lists more than %d deep", tensor.MaxRank)
		default:
			for range c.rank {
				c.desc.Shape = c.desc.Shape.Append(tensor.Unknown)
			}
		}
	}
	return t.all
}
