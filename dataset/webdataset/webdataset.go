// Package webdataset is the dataset of the samples of webdataset's shards.
package webdataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// WebDataset is the samples of shards: tar files in which adjacent members with the
// same key are the fields of a sample.
//
// Columns: those that ColumnNames has, each made of one field of the sample, as ColumnTypes says:
//
//	bytes          the field as it is: an encoded image, JSON
//	text           the field, which must be UTF-8
//	int            int64: a decimal number, with white space around it at most
//	npy:DTYPE:N    an array of NumPy (.npy) of that type and N axes of any length, npy:float32:2 say
//
// A sample without the field is a bad sample, as is one whose field is not of its column's type.
//
// Open reads the index beside each shard, or, if there is none or it is of another state of the shard, goes through
// the shard's headers once, and keeps some 50 bytes and the key of every sample. With an index, and only then, every sample's bytes are
// compared with a checksum. Shards are kept open, and mapped where the system can: bytes and text are then views
// of the mapping, valid until the dataset is closed. The Key is the shard and the sample's
// key, "train-000.tar@n01440764_18". Reading allocates the members' names, some hundred bytes.
//
// Compressed shards, which can only be read from their beginning, are refused: `infer-prep records convert` makes others of them.
//
// Reference: webdataset 1.0.2 without shuffling: the same samples with the same fields
// in the same order. What it passes over in silence (a shard that is cut off, say) is an error.
type WebDataset struct {
	// Shards are names of files and patterns, divided by "::": {000..123} and {a,b} as webdataset has them, and *, ? and [a-z],
	// for files sorted by name.
	Shards string `json:"shards"`
	// ColumnNames are the columns' names, different ones.
	ColumnNames []string `json:"column_names"`
	// Fields are, for each column, the names of fields with semicolons between, as in "jpg;png;jpeg":
	// the first that the sample has is taken.
	Fields []string `json:"fields"`
	// ColumnTypes are the columns' types.
	ColumnTypes []string `json:"column_types"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "webdataset", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "the samples of webdataset's shards",
	})
}

// New makes the source of images and their classes: the columns image, of the field jpg, jpeg, png or webp, and label, of cls.
func New(shards string) *WebDataset {
	return &WebDataset{
		Shards: shards, ColumnNames: []string{"image", "label"},
		Fields: []string{"jpg;jpeg;png;webp", "cls"}, ColumnTypes: []string{"bytes", "int"},
	}
}

// maxColumns is far beyond what is meant.
const maxColumns = 1 << 16

// Validate wants shards, and columns with names, fields and types.
func (o *WebDataset) Validate() error {
	_, err := o.columns()
	return err
}

// column is where a column comes from.
type column struct {
	name   string
	fields []string
	kind   byte        // 'b', 't', 'i' or 'n', as the types begin
	desc   tensor.Desc // sizes are Unknown
}

func (o *WebDataset) columns() ([]column, error) {
	n := len(o.ColumnNames)
	switch {
	case o.Shards == "":
		return nil, fmt.Errorf("%w: no shards", dataset.ErrParam)
	case n < 1 || n > maxColumns:
		return nil, fmt.Errorf("%w: %d columns, want 1 to %d", dataset.ErrParam, n, maxColumns)
	case len(o.Fields) != n || len(o.ColumnTypes) != n:
		return nil, fmt.Errorf("%w: %d column_names, %d fields and %d column_types, want as many of each", dataset.ErrParam, n, len(o.Fields), len(o.ColumnTypes))
	}
	seen := map[string]bool{}
	l := make([]column, n)
	for i, name := range o.ColumnNames {
		if name == "" || seen[name] {
			return nil, fmt.Errorf("%w: column_names: %q, want different names", dataset.ErrParam, name)
		}
		seen[name] = true
		l[i] = column{name: name, fields: strings.Split(o.Fields[i], ";"), desc: tensor.Encoded()}
		for _, f := range l[i].fields {
			if f == "" || f != strings.ToLower(f) {
				return nil, fmt.Errorf("%w: fields of %s: %q, want names in lower case with semicolons between", dataset.ErrParam, name, o.Fields[i])
			}
		}
		ok := true
		switch t := o.ColumnTypes[i]; t {
		case "bytes", "text":
			l[i].kind = t[0]
		case "int":
			l[i].kind = 'i'
			l[i].desc.DType = tensor.Int64
		default:
			l[i].kind = 'n'
			l[i].desc, ok = parseArray(t)
		}
		if !ok {
			return nil, fmt.Errorf("%w: type %q of column %s, want bytes, text, int or npy:DTYPE:N, where N is 0 to %d axes", dataset.ErrParam, o.ColumnTypes[i], name, tensor.MaxRank)
		}
	}
	return l, nil
}

// parseArray reads "npy:float32:2".
func parseArray(s string) (d tensor.Desc, ok bool) {
	p := strings.Split(s, ":")
	if len(p) != 3 || p[0] != "npy" || d.DType.UnmarshalText([]byte(p[1])) != nil || d.DType == tensor.Bytes {
		return d, false
	}
	n, err := strconv.ParseUint(p[2], 10, 8)
	if err != nil || n > tensor.MaxRank {
		return d, false
	}
	for range n {
		d.Shape = d.Shape.Append(tensor.Unknown)
	}
	return d, d.Check() == nil
}

// Open finds the samples.
func (o *WebDataset) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	columns, err := o.columns()
	if err != nil {
		return nil, fmt.Errorf("webdataset: %w", err)
	}
	shards, err := webdataset.Shards(ctx, files, o.Shards, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	r := &rows{columns: columns, starts: []int64{0}}
	for _, name := range shards {
		if err := r.add(ctx, files, name); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", dataset.ErrData, err), r.Close())
		}
	}
	return r, nil
}

// rows is the opened shards.
type rows struct {
	columns []column
	shards  []*webdataset.Indexed
	names   []string
	starts  []int64   // the first row of each shard, and the number of rows
	memory  sync.Pool // of *webdataset.Buffer
}

func (r *rows) add(ctx context.Context, files store.Opener, name string) error {
	packed, err := webdataset.Compressed(ctx, files, name)
	if err != nil {
		return err
	}
	if packed {
		return fmt.Errorf("webdataset: %s: compressed, so that it can only be read from its beginning; infer-prep records convert makes a tar file of it", name)
	}
	x, err := webdataset.LoadIndex(ctx, files, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, webdataset.ErrStale) {
		x, err = webdataset.Scan(ctx, files, name, webdataset.Options{})
	}
	if err != nil {
		return err
	}
	s, err := x.Open(ctx, files, name, webdataset.Options{})
	if err != nil {
		return err
	}
	r.shards, r.names = append(r.shards, s), append(r.names, name)
	r.starts = append(r.starts, r.Len()+int64(s.Len()))
	return nil
}

// Columns are those of the parameters.
func (r *rows) Columns() []dataset.Column {
	l := make([]dataset.Column, len(r.columns))
	for i, c := range r.columns {
		l[i] = dataset.Column{Name: c.name, Desc: c.desc}
	}
	return l
}

// Len is the number of samples.
func (r *rows) Len() int64 { return r.starts[len(r.starts)-1] }

// Read reads a sample.
func (r *rows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= r.Len() {
		return fmt.Errorf("webdataset: %w: row %d of %d", dataset.ErrParam, i, r.Len())
	}
	shard := sort.Search(len(r.shards), func(k int) bool { return r.starts[k+1] > i })
	x, n := r.shards[shard], int(i-r.starts[shard])
	s.Key = r.names[shard] + "@" + x.Key(n)
	m, _ := r.memory.Get().(*webdataset.Buffer)
	if m == nil {
		m = &webdataset.Buffer{}
	}
	defer r.memory.Put(m)
	from, shared, err := x.Read(n, m)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, s.Key, err)
	}
	for k := range r.columns {
		if err := r.columns[k].set(&s.Values[k], from, shared); err != nil {
			return fmt.Errorf("webdataset: %w: %s: sample %q: %w", dataset.ErrData, r.names[shard], from.Key, err)
		}
	}
	return nil
}

// set makes v what the sample has for the column.
func (c *column) set(v *dataset.Value, s *webdataset.Sample, shared bool) error {
	for _, f := range c.fields {
		b, ok := s.Get(f)
		if !ok {
			continue
		}
		if err := c.value(v, b, shared); err != nil {
			return fmt.Errorf("field %s: %w", f, err)
		}
		return nil
	}
	var has []string
	for _, f := range s.Fields {
		has = append(has, f.Ext)
	}
	return fmt.Errorf("no field %s for the column %s, it has %s", strings.Join(c.fields, " or "), c.name, strings.Join(has, ", "))
}

func (c *column) value(v *dataset.Value, b []byte, shared bool) error {
	switch c.kind {
	case 't':
		if !utf8.Valid(b) {
			return errors.New("no UTF-8 text")
		}
		fallthrough
	case 'b':
		if shared {
			v.ShareBytes(b)
		} else {
			copy(v.Bytes(len(b)), b)
		}
		return nil
	case 'i':
		n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
		if err != nil {
			return fmt.Errorf("%.40q, want a decimal number", b)
		}
		if err := v.Reset(c.desc); err != nil {
			return err
		}
		tensor.View[int64](&v.Tensor)[0] = n
		return nil
	}
	in := bytes.NewReader(b)
	t, err := tensor.ReadNPY(in, int64(len(b)))
	if err != nil {
		return err
	}
	if in.Len() > 0 {
		return fmt.Errorf("%d bytes behind the array", in.Len())
	}
	if !c.desc.Matches(t.Desc) {
		return fmt.Errorf("an array %v, want %v", t.Desc, c.desc)
	}
	v.Share(t) // memory that nobody else has
	return nil
}

// Close closes the shards.
func (r *rows) Close() error {
	var errs []error
	for _, x := range slices.Backward(r.shards) {
		errs = append(errs, x.Close())
	}
	r.shards = nil
	return errors.Join(errs...)
}
