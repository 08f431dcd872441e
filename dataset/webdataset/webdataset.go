// Package webdataset reads the samples of webdataset's shards. Columns: those
// that the parameters name, each from one field. Reference: webdataset.
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
	"sync/atomic"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records/webdataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// WebDataset reads the samples of shards: tar files in which adjacent members
// with the same key are the fields of a sample.
//
// Columns: those of ColumnNames. Each is made of one field of the sample, as
// ColumnTypes states:
//
//	bytes             the field unchanged: an encoded image, JSON
//	text              the field, which must be UTF-8
//	int               int64: a decimal number, with optional white space around it
//	npy:DTYPE:N       a NumPy array (.npy) of that type with N axes, such as npy:float32:2
//	npz:NAME:DTYPE:N  the array NAME of a NumPy archive (.npz), such as npz:arr_0:float32:2
//
// The arrays of an archive have at most 1 GiB together. webdataset's tensors
// (.ten, .tb) and pickles (.pyd, .pkl, .pickle, .pth), which run code when they
// are read, are bytes alone.
//
// A sample that lacks the field, or whose field does not fit the column's type,
// is a bad sample.
//
// Open reads the index beside each shard. If it is missing or stale, Open reads
// the shard's headers once. It keeps some 50 bytes and the key of every sample.
// Only with an index, every sample's bytes are verified by a checksum. Shards
// stay open and are mapped if the system can do so. bytes and text are then
// views of the mapping, valid until the dataset is closed. The Key is the shard
// and the sample's key, "train-000.tar@n01440764_18". Reading a sample
// allocates the members' names, some hundred bytes.
//
// As in webdataset, links, devices and files without a key belong to no sample.
// If Open reads the headers, it counts them in a warning (see
// dataset.Options.OnWarning); `infer-prep records ls` always counts them.
//
// Shards compressed with gzip, zstd or bzip2 are read in order: above them, use
// shuffle_shards or shuffle_buffer. Shuffle and random samplers are refused;
// `infer-prep records convert` makes shards for them. Open decompresses such a
// shard once for its keys. A window of shuffle_shards, or another rank, skips
// samples. These are held until they are wanted, 128 MiB at most; then the
// oldest are dropped. A wanted sample that was dropped costs another
// decompression from the start of its shard.
//
// Reference: webdataset 1.0.2 without shuffling has the same samples with the
// same fields in the same order. Defects that it ignores, such as a truncated
// shard, are errors here.
type WebDataset struct {
	// Shards are names and patterns of files. As in webdataset, {000..123} and
	// {a,b} expand; *, ? and [a-z] match files, which are sorted by name. As in
	// all sources, a semicolon separates two of them.
	Shards []string `json:"shards"`
	// ColumnNames are the columns' names, which must differ.
	ColumnNames []string `json:"column_names"`
	// Fields has, for each column, the names of fields. The column is made of
	// the first one that the sample has.
	Fields [][]string `json:"fields"`
	// ColumnTypes are the columns' types.
	ColumnTypes []string `json:"column_types"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "webdataset", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the samples of webdataset's shards",
	})
}

// New returns a source of images and their classes: the column image (bytes),
// of the field jpg, jpeg, png or webp, and the column label (int64), of cls.
func New(shards ...string) *WebDataset {
	return &WebDataset{
		Shards: append([]string{}, shards...), ColumnNames: []string{"image", "label"},
		Fields: [][]string{{"jpg", "jpeg", "png", "webp"}, {"cls"}}, ColumnTypes: []string{"bytes", "int"},
	}
}

// maxColumns bounds the columns; no real dataset has as many.
const maxColumns = 1 << 16

// Validate requires shards, and columns with names, fields and types.
func (o *WebDataset) Validate() error {
	_, err := o.columns()
	return err
}

// column describes the field and the type of a column.
type column struct {
	name   string
	fields []string
	kind   byte        // 'b', 't', 'i', 'n' for npy or 'z' for npz
	array  string      // its name in an npz
	desc   tensor.Desc // with sizes Unknown
}

func (o *WebDataset) columns() ([]column, error) {
	n := len(o.ColumnNames)
	switch {
	case len(o.Shards) == 0 || slices.Contains(o.Shards, ""):
		return nil, fmt.Errorf("%w: no shards, want 1 or more", dataset.ErrParam)
	case n < 1 || n > maxColumns:
		return nil, fmt.Errorf("%w: %d columns, want 1 to %d", dataset.ErrParam, n, maxColumns)
	case len(o.Fields) != n || len(o.ColumnTypes) != n:
		return nil, fmt.Errorf("%w: %d column_names, %d fields and %d column_types, want as many of each", dataset.ErrParam, n, len(o.Fields), len(o.ColumnTypes))
	}
	seen := map[string]bool{}
	l := make([]column, n)
	for i, name := range o.ColumnNames {
		if name == "" || seen[name] {
			return nil, fmt.Errorf("%w: column_names: %q, want distinct non-empty names", dataset.ErrParam, name)
		}
		seen[name] = true
		l[i] = column{name: name, fields: o.Fields[i], desc: tensor.Encoded()}
		if len(o.Fields[i]) == 0 {
			return nil, fmt.Errorf("%w: fields of %s: none, want at least one", dataset.ErrParam, name)
		}
		for _, f := range l[i].fields {
			if f == "" || f != strings.ToLower(f) {
				return nil, fmt.Errorf("%w: fields of %s: %q, want lower-case names", dataset.ErrParam, name, f)
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
			ok = l[i].parseArray(t)
		}
		if !ok {
			return nil, fmt.Errorf("%w: type %q of column %s, want bytes, text, int, npy:DTYPE:N or npz:NAME:DTYPE:N, where N is 0 to %d axes", dataset.ErrParam, o.ColumnTypes[i], name, tensor.MaxRank)
		}
		for _, f := range l[i].fields {
			if what := l[i].refuses(f); what != "" {
				return nil, fmt.Errorf("%w: type %q of column %s: the field %s is %s", dataset.ErrParam, o.ColumnTypes[i], name, f, what)
			}
		}
	}
	return l, nil
}

// refuses returns why a field cannot be an array of the column's type, by its
// extension. It is empty if nothing speaks against it.
func (c *column) refuses(field string) string {
	if c.kind != 'n' && c.kind != 'z' {
		return ""
	}
	end := field[strings.LastIndexByte(field, '.')+1:]
	switch {
	case end == "npz" && c.kind == 'n':
		return "a NumPy archive (.npz), want the type npz:NAME:DTYPE:N"
	case end == "npy" && c.kind == 'z':
		return "a NumPy array (.npy), want the type npy:DTYPE:N"
	case end == "ten" || end == "tb":
		return "webdataset's tensors (." + end + "), which are not supported, want the type bytes"
	case end == "pyd" || end == "pkl" || end == "pickle" || end == "pth":
		return "a pickle (." + end + "), which runs code when it is read, want the type bytes"
	}
	return ""
}

// parseArray parses "npy:float32:2" and "npz:arr_0:float32:2".
func (c *column) parseArray(s string) (ok bool) {
	p := strings.Split(s, ":")
	if len(p) < 3 {
		return false
	}
	n := len(p) - 2 // a name may have colons
	c.array = strings.Join(p[1:n], ":")
	switch {
	case p[0] == "npy" && n == 1:
		c.kind = 'n'
	case p[0] == "npz" && c.array != "":
		c.kind = 'z'
	default:
		return false
	}
	c.desc, ok = parseDesc(p[n], p[n+1])
	return ok
}

// parseDesc parses a dtype and a number of axes.
func parseDesc(dtype, axes string) (d tensor.Desc, ok bool) {
	if d.DType.UnmarshalText([]byte(dtype)) != nil || d.DType == tensor.Bytes {
		return d, false
	}
	n, err := strconv.ParseUint(axes, 10, 8)
	if err != nil || n > tensor.MaxRank {
		return d, false
	}
	for range n {
		d.Shape = d.Shape.Append(tensor.Unknown)
	}
	return d, d.Validate() == nil
}

// Open finds the samples.
func (o *WebDataset) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	columns, err := o.columns()
	if err != nil {
		return nil, fmt.Errorf("webdataset: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err // Shards reports it as a missing file
	}
	shards, err := webdataset.Shards(ctx, files, strings.Join(store.Split(ctx, files, o.Shards), "::"), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	opened, errs := make([]shard, len(shards)), make([]error, len(shards))
	ignored := make([]webdataset.Ignored, len(shards))
	r := &rows{columns: columns, starts: []int64{0}, held: held{limit: maxHeld}}
	var all sync.WaitGroup
	var failed atomic.Bool
	slots := make(chan struct{}, atOnce)
	for i, name := range shards {
		slots <- struct{}{}
		if failed.Load() {
			break // in order, so that the error is that of the first bad shard
		}
		all.Go(func() {
			if opened[i], ignored[i], errs[i] = open(ctx, files, name, &r.held); errs[i] != nil {
				failed.Store(true)
			}
			<-slots
		})
	}
	all.Wait()
	for i, s := range opened {
		if s != nil {
			r.shards, r.names = append(r.shards, s), append(r.names, shards[i])
			r.starts = append(r.starts, r.Len()+int64(s.Len()))
			if r.ignored.Members == 0 && ignored[i].Members > 0 {
				r.ignored.First = store.Redact(shards[i]) + ": " + ignored[i].First
			}
			r.ignored.Members += ignored[i].Members
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", dataset.ErrData, err), r.Close())
		}
	}
	return r, nil
}

// atOnce is the number of shards that are opened at a time. A shard of a remote
// store takes three or four requests, each of which waits for the store.
const atOnce = 16

// shard is an opened shard: a tar file with its index, or a packed one. Read
// may be called by several goroutines, each with a Buffer of its own.
type shard interface {
	Len() int
	Key(i int) string
	// Read returns sample i, valid until the next use of b, or, if shared is
	// true, until Close.
	Read(ctx context.Context, i int, b *webdataset.Buffer) (s *webdataset.Sample, shared bool, err error)
	Close() error
}

// plain is a shard that is not compressed.
type plain struct{ *webdataset.Indexed }

func (p plain) Read(_ context.Context, i int, b *webdataset.Buffer) (*webdataset.Sample, bool, error) {
	return p.Indexed.Read(i, b)
}

// rows is the opened shards.
type rows struct {
	columns []column
	shards  []shard
	held    held // of compressed shards
	names   []string
	starts  []int64   // the first row of each shard, and the number of rows
	memory  sync.Pool // of *webdataset.Buffer
	ignored webdataset.Ignored
}

// Warning reports the members in no sample, nil if there are none.
func (r *rows) Warning() error {
	if r.ignored.Members == 0 {
		return nil
	}
	return fmt.Errorf("members of the shards that are in no sample: %d, the first is %s", r.ignored.Members, r.ignored.First)
}

// open opens a shard with its index, or with one that it makes.
func open(ctx context.Context, files store.Opener, name string, h *held) (_ shard, none webdataset.Ignored, err error) {
	compressed, err := webdataset.Compressed(ctx, files, name)
	if err != nil {
		return nil, none, err
	}
	if compressed {
		p, ignored, err := openPacked(ctx, files, name, h)
		if err != nil {
			return nil, none, err
		}
		return p, ignored, nil
	}
	x, err := webdataset.LoadIndex(ctx, files, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, webdataset.ErrStale) {
		x, err = webdataset.Scan(ctx, files, name, webdataset.Options{})
	}
	if err != nil {
		return nil, none, err
	}
	opened, err := x.Open(ctx, files, name, webdataset.Options{})
	if err != nil {
		return nil, none, err
	}
	return plain{opened}, x.Ignored, nil
}

// Columns returns the columns of the parameters.
func (r *rows) Columns() []dataset.Column {
	l := make([]dataset.Column, len(r.columns))
	for i, c := range r.columns {
		l[i] = dataset.Column{Name: c.name, Desc: c.desc}
	}
	return l
}

// Len returns the number of samples.
func (r *rows) Len() int64 { return r.starts[len(r.starts)-1] }

// Shards returns the first row of each shard.
func (r *rows) Shards() []int64 { return slices.Clone(r.starts[:len(r.starts)-1]) }

// Ordered reports that some shards are compressed.
func (r *rows) Ordered() bool {
	return slices.ContainsFunc(r.shards, func(s shard) bool { _, ok := s.(*packed); return ok })
}

// Keys yields the shard and key of each sample.
func (r *rows) Keys(yield func(string) bool) {
	for k, x := range r.shards {
		for n := range x.Len() {
			if !yield(r.names[k] + "@" + x.Key(n)) {
				return
			}
		}
	}
}

// Read reads a sample.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("webdataset: %w", err)
	}
	shard := sort.Search(len(r.shards), func(k int) bool { return r.starts[k+1] > i })
	x, n := r.shards[shard], int(i-r.starts[shard])
	s.Key = r.names[shard] + "@" + x.Key(n)
	m, _ := r.memory.Get().(*webdataset.Buffer)
	if m == nil {
		m = &webdataset.Buffer{}
	}
	defer r.memory.Put(m)
	from, shared, err := x.Read(ctx, n, m)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, s.Key, err)
	}
	for k := range r.columns {
		if err := r.columns[k].set(&s.Values[k], from, shared); err != nil {
			return fmt.Errorf("webdataset: %w: %s: sample %q: %w", dataset.ErrData, store.Redact(r.names[shard]), from.Key, err)
		}
	}
	return nil
}

// set sets v from the first of the column's fields that the sample has.
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
			return errors.New("invalid UTF-8, want text")
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
	var t *tensor.Tensor
	var err error
	if c.kind == 'z' {
		if t, err = c.member(in); err != nil {
			return err
		}
	} else if t, err = tensor.ReadNPY(in, int64(len(b))); err != nil {
		return err
	} else if in.Len() > 0 {
		return fmt.Errorf("%d bytes after the array, want none", in.Len())
	}
	if !c.desc.Matches(t.Desc) {
		return fmt.Errorf("an array %v, want %v", t.Desc, c.desc)
	}
	v.Share(t) // t has its own memory
	return nil
}

// maxArchive bounds the arrays of an npz, in bytes. An archive can be
// compressed to a thousandth of them.
const maxArchive = 1 << 30

// member reads the column's array of an npz.
func (c *column) member(b *bytes.Reader) (*tensor.Tensor, error) {
	l, err := npz.Read(b, b.Size(), maxArchive)
	if err != nil {
		return nil, err
	}
	var has []string
	for _, x := range l {
		if x.Name == c.array {
			return x.T, nil
		}
		has = append(has, x.Name)
	}
	return nil, fmt.Errorf("no array %q, it has %s", c.array, strings.Join(has, ", "))
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
