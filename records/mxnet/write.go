package mxnet

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func creator(images bool) func(context.Context, store.Opener, string, records.WriteOptions) (records.Writer, error) {
	return func(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
		x := &writer{format: Raw, notes: records.Notes{OnNote: options.OnNote}}
		if images {
			x.format = Image
		}
		if err := options.CheckSingleFile(x.format, name, true); err != nil {
			return nil, err
		}
		var err error
		if x.out, err = store.NewWriter(ctx, o, name); err != nil {
			return nil, err
		}
		if options.Index {
			if x.idx, err = store.NewWriter(ctx, o, IndexName(name)); err != nil {
				return nil, errors.Join(err, x.out.Abort())
			}
			x.indexed, err = recordio.NewIndexedWriter(x.out, x.idx, 0)
		} else {
			x.plain, err = recordio.NewWriter(x.out, 0)
		}
		if err != nil {
			return nil, errors.Join(err, x.Abort())
		}
		return x, nil
	}
}

type writer struct {
	format   string
	notes    records.Notes
	out, idx *store.Writer // idx is nil without an index
	plain    *recordio.Writer
	indexed  *recordio.IndexedWriter
	number   uint64
	own      bool // the first key was a number, and all others must be
	image    imagerecord.Record
	b        []byte
}

// numeric parses a key that is the decimal text of a number.
func numeric(key string) (uint64, bool) {
	n, err := strconv.ParseUint(key, 10, 64)
	return n, err == nil && strconv.FormatUint(n, 10) == key
}

func (x *writer) Write(r *records.Record) error {
	b, key, err := x.raw(r)
	if err != nil {
		return err
	}
	if x.indexed != nil {
		err = x.indexed.WriteKey(int64(key), b)
	} else {
		err = x.plain.Write(b)
	}
	if errors.Is(err, records.ErrTooLarge) {
		return r.FieldErrorf(x.format, "", "%d bytes, want %d at most", len(b), recordio.MaxRecord)
	}
	if err == nil {
		x.number++
	}
	return err
}

// raw encodes a record, and returns its key in the index.
func (x *writer) raw(r *records.Record) (b []byte, key uint64, err error) {
	kept := x.format == Image || x.indexed != nil // the file has a place for a number
	n, ok := numeric(r.Key)
	if x.indexed != nil && n > math.MaxInt64 {
		if x.format == Image && ok {
			return nil, 0, r.FieldErrorf(x.format, "", "the key is above 2^63-1, which an index cannot hold")
		}
		ok = false
	}
	first := x.number == 0
	switch {
	case kept && first:
		x.own = ok
	case kept && x.own && !ok:
		return nil, 0, r.FieldErrorf(x.format, "", "the key is no number, as those before are")
	}
	key = x.number
	if kept && x.own {
		key = n
	}
	if x.format == Raw {
		if b, err = records.RawBytes(x.format, r); err != nil {
			return nil, 0, err
		}
	} else if b, err = x.imageRecord(r, key); err != nil {
		return nil, 0, err
	}
	if key != n || !ok {
		x.notes.Addf("%s: keys are replaced by the records' numbers", x.format)
	}
	return b, key, nil
}

func (x *writer) imageRecord(r *records.Record, id uint64) ([]byte, error) {
	m := &x.image
	*m = imagerecord.Record{ID: id, Labels: m.Labels[:0]}
	var head uint32
	label := r.Get("label")
	for _, name := range []string{"cls", "json"} {
		if label == nil {
			label = r.Get(name)
		}
	}
	if label == nil {
		return nil, r.FieldErrorf(Image, "", "no label: want a field label, cls or json")
	}
	if err := x.setLabels(r, label); err != nil {
		return nil, err
	}
	content := ""
	for i := range r.Fields {
		f := &r.Fields[i]
		scalar := f.Value.Shape.Rank() == 0
		switch {
		case f == label:
		case f.Name == id2 && f.Value.DType == tensor.Int64 && scalar:
			m.ID2 = uint64(tensor.View[int64](&f.Value)[0])
		case f.Name == headLabel && f.Value.DType == tensor.Float32 && scalar && m.Listed:
			head = math.Float32bits(tensor.View[float32](&f.Value)[0])
		case f.Value.DType != tensor.Bytes || content != "":
			what := f.Value.Desc.String()
			if content != "" {
				what += fmt.Sprintf(" beside the content %q", content)
			}
			return nil, r.FieldErrorf(Image, f.Name, "%s, want one label, one image and perhaps id2 (drop it?)", what)
		default:
			content, m.Content = f.Name, f.Value.Data
			if content == "" {
				return nil, r.FieldErrorf(Image, "", "a field without a name")
			}
			if name := imageName(m.Content); name != content {
				x.notes.Addf("%s: the field %q will be read as %q, by its first bytes", Image, content, name)
			}
		}
	}
	if content == "" {
		return nil, r.FieldErrorf(Image, "", "no image: want a field of bytes")
	}
	x.b = m.Append(x.b[:0])
	if m.Listed {
		binary.LittleEndian.PutUint32(x.b[4:], head)
	}
	return x.b, nil
}

// setLabels sets the labels from a field of numbers that float32 holds exactly.
func (x *writer) setLabels(r *records.Record, f *records.Field) error {
	m := &x.image
	bad := func(what string, args ...any) error {
		return r.FieldErrorf(Image, f.Name, "%s, want a number or a list of numbers that float32 holds exactly", fmt.Sprintf(what, args...))
	}
	v := &f.Value
	if v.DType == tensor.Bytes {
		return x.textLabels(f, bad)
	}
	if v.Shape.Rank() > 1 || v.Len() == 0 {
		return bad("%v", v.Desc)
	}
	m.Listed = v.Shape.Rank() == 1
	if v.DType == tensor.Float32 {
		if !v.Dense() {
			v = v.Clone()
		}
		m.Labels = append(m.Labels, tensor.View[float32](v)...)
		return nil
	}
	at := tensor.Float64s(v)
	for i := range int(v.Len()) {
		n := at(i)
		if float64(float32(n)) != n || math.Abs(n) >= 1<<53 && v.DType == tensor.Int64 {
			return bad("%v", n)
		}
		m.Labels = append(m.Labels, float32(n))
	}
	return nil
}

// textLabels parses numbers from text or JSON.
func (x *writer) textLabels(f *records.Field, bad func(string, ...any) error) error {
	m := &x.image
	text := strings.TrimSpace(string(f.Value.Data[:min(len(f.Value.Data), 1<<20)]))
	var numbers []json.Number
	if err := json.Unmarshal([]byte(text), &numbers); err == nil && len(numbers) > 0 {
		m.Listed = true
	} else {
		numbers = []json.Number{json.Number(text)}
	}
	for _, s := range numbers {
		n, err := strconv.ParseFloat(string(s), 64)
		if err != nil || float64(float32(n)) != n {
			return bad("%.60q", string(s))
		}
		m.Labels = append(m.Labels, float32(n))
	}
	return nil
}

func (x *writer) Close() error {
	err := x.out.Close()
	if x.idx == nil {
		return err
	}
	if err != nil || x.number == 0 { // an index needs an entry
		return errors.Join(err, x.idx.Abort())
	}
	return x.idx.Close()
}

func (x *writer) Abort() error {
	err := x.out.Abort()
	if x.idx != nil {
		err = errors.Join(err, x.idx.Abort())
	}
	return err
}
