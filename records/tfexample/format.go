package tfexample

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const formatName = "tfexample"

func init() {
	records.Register(records.Format{
		Name: formatName, Doc: "TFRecord files of tf.train.Example messages",
		Match: is, Refines: "tfrecord", Open: open, Stream: stream, Create: create,
	})
}

// is reports whether the first record begins like an Example with a feature. It
// has a field 1 that spans the message, which contains a field 1 whose own
// field 1 is a name.
func is(name string, start []byte) bool {
	if !tfrecord.Match(name, start) {
		return false
	}
	b, length := tfrecord.Head(start)
	for i := range 3 {
		if len(b) == 0 || b[0] != 0x0a {
			return false
		}
		n, k := protowire.ConsumeVarint(b[1:])
		if k < 0 || n > length-uint64(1+k) || i == 0 && n != length-uint64(1+k) {
			return false
		}
		b, length = b[1+k:], n
	}
	return utf8.Valid(b[:min(uint64(len(b)), length)]) || uint64(len(b)) < length
}

func open(ctx context.Context, o store.Opener, files []string, options records.ReadOptions) (records.Reader, error) {
	return tfrecord.Concat(ctx, o, files, options, fields)
}

func stream(in io.Reader, name string, options records.ReadOptions) (records.Reader, error) {
	return tfrecord.Stream(in, name, options, fields), nil
}

// list splits the name of a list element, such as "name[3]". index is -1 for
// "name[]", an empty list.
func list(name string) (base string, index int, ok bool) {
	rest, ok := strings.CutSuffix(name, "]")
	i := strings.LastIndexByte(rest, '[')
	if !ok || i < 0 {
		return name, 0, false
	}
	if i == len(rest)-1 {
		return rest[:i], -1, true
	}
	n, err := strconv.Atoi(rest[i+1:])
	if err != nil || n < 0 || strconv.Itoa(n) != rest[i+1:] {
		return name, 0, false
	}
	return rest[:i], n, true
}

// fields sets the fields of an Example.
func fields(r *records.Record, number int64, data []byte) error {
	l, err := Parse(data)
	if err != nil {
		return records.Corruptf(formatName, r.File, r.Offset, "%s", strings.TrimPrefix(err.Error(), "tfexample: "))
	}
	for i := range l {
		f := &l[i]
		if _, _, ok := list(f.Name); ok {
			return r.FieldErrorf(formatName, f.Name, "the name would be taken for an element of a list")
		}
		if f.Name == records.KeyField && f.Kind == Bytes && len(f.Bytes) == 1 && utf8.Valid(f.Bytes[0]) {
			r.Key = string(f.Bytes[0])
			continue
		}
		switch f.Kind {
		case Bytes:
			switch len(f.Bytes) {
			case 0:
				r.AddBytes(f.Name+"[]", nil)
			case 1:
				r.AddBytes(f.Name, f.Bytes[0])
			default:
				for k, b := range f.Bytes {
					r.AddBytes(fmt.Sprintf("%s[%d]", f.Name, k), b)
				}
			}
		case Float:
			err = add(r, f.Name, tensor.Float32, f.Floats)
		case Int64:
			err = add(r, f.Name, tensor.Int64, f.Ints)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds numbers: one as a scalar, several as a vector.
func add[T tensor.Elem](r *records.Record, name string, d tensor.DType, v []T) error {
	desc := tensor.Desc{DType: d}
	if len(v) != 1 {
		desc.Shape = tensor.Dims(len(v))
	}
	t, err := tensor.New(desc)
	if err != nil {
		return err
	}
	copy(tensor.View[T](t), v)
	r.Fields = append(r.Fields, records.Field{Name: name, Value: *t})
	return nil
}

func create(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	return tfrecord.CreateFormat(ctx, o, formatName, name, options, func(r *records.Record, number int64, _ *records.Notes) ([]byte, error) {
		return example(r, number)
	})
}

// example returns the Example of a record.
func example(r *records.Record, number int64) ([]byte, error) {
	var l []Feature
	byName := map[string]int{}
	lists := map[string]map[int][]byte{}
	put := func(f Feature) error {
		if !utf8.ValidString(f.Name) {
			return errors.New("the name is no UTF-8 text")
		}
		if _, twice := byName[f.Name]; twice || f.Name == records.KeyField {
			return fmt.Errorf("the name %q stands twice, or for the key", f.Name)
		}
		byName[f.Name] = len(l)
		l = append(l, f)
		return nil
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		v := &f.Value
		var err error
		rank := v.Shape.Rank()
		base, index, ok := list(f.Name)
		switch {
		case ok && v.DType == tensor.Bytes:
			if lists[base] == nil {
				lists[base] = map[int][]byte{}
				err = put(Feature{Name: base, Kind: Bytes})
			}
			if _, twice := lists[base][index]; twice {
				err = errors.New("stands twice")
			}
			lists[base][index] = v.Data
			if index < 0 && len(v.Data) > 0 {
				err = errors.New("bytes of a list without elements")
			}
		case ok:
			err = errors.New("the name would be taken for an element of a list")
		case v.DType == tensor.Bytes:
			err = put(Feature{Name: f.Name, Kind: Bytes, Bytes: [][]byte{v.Data}})
		case v.DType != tensor.Float32 && v.DType != tensor.Int64 || rank > 1 || rank == 1 && v.Len() == 1:
			err = fmt.Errorf("%v, want bytes, float32 or int64, a number or a list of none or several", v.Desc)
		default:
			if !v.Dense() {
				v = v.Clone()
			}
			if v.DType == tensor.Float32 {
				err = put(Feature{Name: f.Name, Kind: Float, Floats: tensor.View[float32](v)})
			} else {
				err = put(Feature{Name: f.Name, Kind: Int64, Ints: tensor.View[int64](v)})
			}
		}
		if err != nil {
			return nil, r.FieldErrorf(formatName, f.Name, "%s", err.Error())
		}
	}
	for base, parts := range lists {
		f := &l[byName[base]]
		if _, none := parts[-1]; none && len(parts) == 1 {
			continue
		}
		for k := range len(parts) {
			b, ok := parts[k]
			if !ok || len(parts) == 1 {
				return nil, r.FieldErrorf(formatName, base, "%d elements of a list, want those from [0] on, two at least", len(parts))
			}
			f.Bytes = append(f.Bytes, b)
		}
	}
	if r.Key != strconv.FormatInt(number, 10) {
		if !utf8.ValidString(r.Key) {
			return nil, r.FieldErrorf(formatName, "", "the key is no UTF-8 text")
		}
		l = append(l, Feature{Name: records.KeyField, Kind: Bytes, Bytes: [][]byte{[]byte(r.Key)}})
	}
	return Append(nil, l), nil
}
