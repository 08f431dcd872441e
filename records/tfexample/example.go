// Package tfexample reads and writes tf.train.Example messages, and TFRecord
// files of them. An Example maps names to features; a feature is a list of byte
// strings, of float32 or of int64. Package tfrecord reads and writes the files
// themselves.
//
//	Example  { Features features = 1 }
//	Features { map<string, Feature> feature = 1 }
//	Feature  { BytesList bytes_list = 1 | FloatList float_list = 2 | Int64List int64_list = 3 }
//	lists    { repeated VALUE value = 1 }   numbers packed or not
//
// Reading is strict. Unknown fields, duplicate names, names that are not UTF-8
// and features without a list are errors; TensorFlow's parser skips or replaces
// them.
//
// Reference: example.proto and feature.proto of TensorFlow 2, and protobuf's
// wire format.
package tfexample

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/internal/sorts"
)

// ErrExample reports bytes that are not an Example.
var ErrExample = errors.New("invalid tf.train.Example")

// Kind is the type of a feature's list.
type Kind uint8

// The kinds, with their field numbers.
const (
	Bytes Kind = 1
	Float Kind = 2
	Int64 Kind = 3
)

// Feature is a named list. Only the slice of its kind is used.
type Feature struct {
	Name   string
	Kind   Kind
	Bytes  [][]byte
	Floats []float32
	Ints   []int64
}

func bad(at int, format string, args ...any) error {
	return fmt.Errorf("tfexample: %w: at byte %d: %s", ErrExample, at, fmt.Sprintf(format, args...))
}

// message calls f for each field of a message. All fields must be messages or
// strings with numbers up to most.
func message(b []byte, at int, what string, most protowire.Number, f func(number protowire.Number, b []byte, at int) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || number > most || kind != protowire.BytesType {
			return bad(at, "no field that %s has", what)
		}
		v, m := protowire.ConsumeBytes(b[n:])
		if m < 0 {
			return bad(at, "field %d of %s is cut off", number, what)
		}
		if err := f(number, v, at+n+m-len(v)); err != nil {
			return err
		}
		b, at = b[n+m:], at+n+m
	}
	return nil
}

// Parse decodes an Example. Byte strings are views of b. The features are in
// the order of the message.
func Parse(b []byte) ([]Feature, error) {
	var l []Feature
	names := map[string]bool{}
	seen := false
	err := message(b, 0, "Example", 1, func(_ protowire.Number, b []byte, at int) error {
		if seen {
			return bad(at, "features twice")
		}
		seen = true
		return message(b, at, "Features", 1, func(_ protowire.Number, b []byte, at int) error {
			f, err := entry(b, at)
			if err == nil && names[f.Name] {
				err = bad(at, "the feature %q twice", f.Name)
			}
			names[f.Name] = true
			l = append(l, f)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

func entry(b []byte, at int) (f Feature, err error) {
	start := at
	var seen [3]bool
	err = message(b, at, "an entry of Features", 2, func(number protowire.Number, b []byte, at int) error {
		if seen[number] {
			return bad(at, "field %d of an entry twice", number)
		}
		seen[number] = true
		if number == 1 {
			if !utf8.Valid(b) {
				return bad(at, "the name %q is no UTF-8 text", b)
			}
			f.Name = string(b)
			return nil
		}
		return message(b, at, "Feature", 3, func(number protowire.Number, b []byte, at int) error {
			if f.Kind != 0 {
				return bad(at, "two lists in a feature")
			}
			f.Kind = Kind(number)
			return f.list(b, at)
		})
	})
	if err == nil && f.Kind == 0 {
		err = bad(start, "the feature %q has no list", f.Name)
	}
	return f, err
}

func (f *Feature) list(b []byte, at int) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || number != 1 {
			return bad(at, "no value of a list")
		}
		at, b = at+n, b[n:]
		m := -1
		var packed []byte
		switch {
		case f.Kind == Bytes && kind == protowire.BytesType:
			var v []byte
			v, m = protowire.ConsumeBytes(b)
			f.Bytes = append(f.Bytes, v)
		case f.Kind == Float && kind == protowire.Fixed32Type:
			var v uint32
			v, m = protowire.ConsumeFixed32(b)
			f.Floats = append(f.Floats, math.Float32frombits(v))
		case f.Kind == Int64 && kind == protowire.VarintType:
			var v uint64
			v, m = protowire.ConsumeVarint(b)
			f.Ints = append(f.Ints, int64(v))
		case kind == protowire.BytesType:
			packed, m = protowire.ConsumeBytes(b)
		}
		if m < 0 {
			return bad(at, "a value of a list is cut off, or of another type")
		}
		b, at = b[m:], at+m
		for len(packed) > 0 {
			k := 0
			if f.Kind == Float {
				var v uint32
				v, k = protowire.ConsumeFixed32(packed)
				f.Floats = append(f.Floats, math.Float32frombits(v))
			} else {
				var v uint64
				v, k = protowire.ConsumeVarint(packed)
				f.Ints = append(f.Ints, int64(v))
			}
			if k < 0 {
				return bad(at-len(packed), "a number of a packed list is cut off")
			}
			packed = packed[k:]
		}
	}
	return nil
}

// Append appends an encoded Example to b. It sorts l by name and packs numbers,
// so that the same features encode to the same bytes. The caller must pass
// unique names of UTF-8 text.
func Append(b []byte, l []Feature) []byte {
	sorts.Func(l, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	var features, entry, feature, list []byte
	for i := range l {
		f := &l[i]
		list = list[:0]
		switch f.Kind {
		case Bytes:
			for _, v := range f.Bytes {
				list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), v)
			}
		case Float:
			if len(f.Floats) > 0 {
				list = protowire.AppendVarint(protowire.AppendTag(list, 1, protowire.BytesType), 4*uint64(len(f.Floats)))
				for _, v := range f.Floats {
					list = protowire.AppendFixed32(list, math.Float32bits(v))
				}
			}
		case Int64:
			if len(f.Ints) > 0 {
				size := 0
				for _, v := range f.Ints {
					size += protowire.SizeVarint(uint64(v))
				}
				list = protowire.AppendVarint(protowire.AppendTag(list, 1, protowire.BytesType), uint64(size))
				for _, v := range f.Ints {
					list = protowire.AppendVarint(list, uint64(v))
				}
			}
		}
		feature = protowire.AppendBytes(protowire.AppendTag(feature[:0], protowire.Number(f.Kind), protowire.BytesType), list)
		entry = protowire.AppendString(protowire.AppendTag(entry[:0], 1, protowire.BytesType), f.Name)
		entry = protowire.AppendBytes(protowire.AppendTag(entry, 2, protowire.BytesType), feature)
		features = protowire.AppendBytes(protowire.AppendTag(features, 1, protowire.BytesType), entry)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), features)
}
