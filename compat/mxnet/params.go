package mxnet

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/tensor"
)

// paramSet describes the parameters of an iterator: a struct whose fields have
// MXNet's names as tags.
type paramSet struct {
	iter   string
	fields map[string][]int // indices by MXNet's name
	// required are the parameters without a default; their zero values are
	// reported as missing.
	required []string
	// wants describes valid values for errors.
	wants map[string]string
	// ranges are the valid ranges of numbers.
	ranges map[string][2]float64
}

func newParamSet[T any](iter string, s paramSet) *paramSet {
	s.iter, s.fields = iter, map[string][]int{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name := f.Tag.Get("mxnet"); name != "" {
			s.fields[name] = f.Index
		}
	}
	return &s
}

// parse parses parameters into p, a pointer to the struct.
func (s *paramSet) parse(p any, kwargs map[string]string) error {
	v := reflect.ValueOf(p).Elem()
	for _, k := range slices.Sorted(maps.Keys(kwargs)) {
		i, ok := s.fields[k]
		if !ok {
			return &ParamError{Iter: s.iter, Name: k, Suggestion: registry.Suggest(k, slices.Collect(maps.Keys(s.fields)))}
		}
		if want, err := parseField(v.FieldByIndex(i), kwargs[k]); err != nil {
			if w, ok := s.wants[k]; ok {
				want = w
			}
			return &ParamError{Iter: s.iter, Name: k, Value: strconv.Quote(kwargs[k]), Want: want}
		}
	}
	return nil
}

// field returns the field of a parameter of p, a struct.
func (s *paramSet) field(p any, name string) reflect.Value {
	return reflect.ValueOf(p).FieldByIndex(s.fields[name])
}

// fail returns the error of a parameter of p, a struct.
func (s *paramSet) fail(p any, name string) error {
	e := &ParamError{Iter: s.iter, Name: name, Want: s.wants[name]}
	switch f := s.field(p, name); {
	case f.Kind() == reflect.Pointer:
		e.Value = fmt.Sprint(f.Elem())
	case f.Kind() == reflect.String && f.String() != "":
		e.Value = strconv.Quote(f.String())
	case !f.IsZero() || !slices.Contains(s.required, name):
		e.Value = fmt.Sprint(f)
	}
	if r, ok := s.ranges[name]; ok && e.Want == "" {
		e.Want = strconv.FormatFloat(r[0], 'f', -1, 64) + " to " + strconv.FormatFloat(r[1], 'f', -1, 64)
	}
	return e
}

// check checks that the numbers of p, a struct, are finite and in their ranges.
func (s *paramSet) check(p any) error {
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		f := s.field(p, name)
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			f = f.Elem()
		}
		var n float64
		switch {
		case f.CanInt():
			n = float64(f.Int())
		case f.CanFloat():
			if n = f.Float(); math.IsNaN(n) || math.IsInf(n, 0) {
				return &ParamError{Iter: s.iter, Name: name, Value: fmt.Sprint(n), Want: "a finite number"}
			}
		default:
			continue
		}
		if r, ok := s.ranges[name]; ok && !(n >= r[0] && n <= r[1]) {
			return s.fail(p, name)
		}
	}
	return nil
}

// parseField parses a parameter. want describes the valid values for the error.
func parseField(f reflect.Value, s string) (want string, err error) {
	switch x := f.Addr().Interface().(type) {
	case *tensor.Shape:
		*x, err = parseShape(s)
		return wantShape, err
	case *tensor.DType:
		if s == "None" {
			s = "float32"
		}
		*x, err = tensor.ParseDType(s)
		return "", err
	case **int64, **float32:
		if s == "None" {
			f.SetZero()
			return "", nil
		}
		n := reflect.New(f.Type().Elem())
		want, err = parseField(n.Elem(), s)
		f.Set(n)
		return want + " or None", err
	}
	switch f.Kind() {
	case reflect.Bool:
		var b bool
		b, err = parseBool(s)
		f.SetBool(b)
		return "True or False", err
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(s, 10, f.Type().Bits())
		f.SetInt(n)
		return "a whole number", err
	case reflect.Float32, reflect.Float64:
		if strings.ContainsAny(s, "xX_") { // Go's hexadecimal and grouped numbers
			err = strconv.ErrSyntax
		}
		n, e := strconv.ParseFloat(s, f.Type().Bits())
		f.SetFloat(n)
		return "a number", errors.Join(err, e)
	case reflect.Slice:
		f.SetZero()
		if s == "None" {
			return "", nil
		}
		if x, ok := f.Addr().Interface().(*[][2]float64); ok {
			*x, err = parsePairs(s)
			return "", err
		}
		if k := f.Type().Elem().Kind(); k != reflect.Float64 && k != reflect.Int {
			return "None; set the field of the struct", strconv.ErrSyntax
		}
		s = strings.TrimSpace(s)
		if n := len(s); n > 1 && (s[0] == '(' && s[n-1] == ')' || s[0] == '[' && s[n-1] == ']') {
			s = strings.TrimSuffix(strings.TrimSpace(s[1:n-1]), ",")
		}
		for x := range strings.SplitSeq(s, ",") {
			n := reflect.New(f.Type().Elem()).Elem()
			if _, err := parseField(n, strings.TrimSpace(x)); err != nil {
				return "numbers, as in (0.5, 1), or None", err
			}
			f.Set(reflect.Append(f, n))
		}
		return "", nil
	}
	f.SetString(s)
	return "", nil
}

// The text forms of parameters are those that MXNet's C interface takes and its
// Python interface writes.

// parseShape reads "(3, 2)", "(3,)", "[3,2]" or "3".
func parseShape(s string) (tensor.Shape, error) {
	bad := errors.New("invalid shape")
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '(' && s[len(s)-1] == ')' || s[0] == '[' && s[len(s)-1] == ']') {
		s = strings.TrimSuffix(strings.TrimSpace(s[1:len(s)-1]), ",")
	}
	var r tensor.Shape
	for f := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 || r.Rank() == tensor.MaxRank-1 {
			return r, bad
		}
		r = r.Append(n)
	}
	return r, nil
}

// parseBool reads the truth values that MXNet accepts.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, errors.New("invalid truth value")
}

const wantRanges = "two numbers, as in (0.5, 1), or a list of them"

// parsePairs parses a number, "(a, b)" or "[(a, b), (c, d)]". A number is a
// pair of equal ones.
func parsePairs(s string) (l [][2]float64, err error) {
	bad := errors.New("invalid pairs")
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return [][2]float64{{n, n}}, nil
	}
	if n := len(s); n > 1 && s[0] == '[' && s[n-1] == ']' {
		s = strings.TrimSpace(s[1 : n-1])
	}
	for s != "" {
		end := strings.IndexByte(s, ')')
		if s[0] != '(' || end < 0 {
			return nil, bad
		}
		a, b, ok := strings.Cut(s[1:end], ",")
		x, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
		y, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
		if !ok || err != nil || err2 != nil {
			return nil, bad
		}
		l = append(l, [2]float64{x, y})
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s[end+1:]), ","))
	}
	if len(l) == 0 {
		return nil, bad
	}
	return l, nil
}
