// Package metadatafolder reads a folder of files that metadata.jsonl or
// metadata.csv describes. Columns: those of the metadata, with files in place
// of their names. Reference: imagefolder of Hugging Face's datasets.
package metadatafolder

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/csv"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/textfile"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MetadataFolder reads a folder with metadata files: metadata.jsonl, which has
// a JSON object a line, or metadata.csv with a header. A row of a metadata file
// is a sample. Files that no row names are ignored; a folder without metadata
// is one for the source image_folder.
//
// Columns: those of the metadata in their order, or the chosen ones. file_name
// is the column image, and x_file_name the column x: the bytes of the file,
// whose name is relative to the folder of the metadata file. Text is bytes.
// Whole numbers are int64; if a row has a fraction, all are float64. true and
// false are bool. Lists of numbers are arrays, whose lists must have equal
// lengths. The fields of an object are columns with a dot, objects.bbox. Lists
// of text, of objects and of files can't be read, so the other columns must be
// chosen then. A chosen column without a value is an error of its row.
//
// Open reads the metadata files once for the types, and keeps 8 bytes a row.
// The Key is the name of the row's first file, relative to Dir, or the place of
// the row if no file is chosen.
//
// A name that leaves Dir is an error of its row; see store.AllowOutside. Links
// are followed as in the source image_folder. Folders that are links are not
// searched for metadata files.
//
// Reference: datasets 5.2.0's imagefolder has the same rows. It orders several
// metadata files of a split at random; here they are sorted. It reads text that
// looks like a time as a time, metadata.parquet, which the source parquet
// reads, and archives. Its float64 from a CSV file may differ by one unit in
// the last place, because pandas does not round them correctly.
type MetadataFolder struct {
	Dir string `json:"dir"`
	// Split is train, validation or test: metadata files in folders below Dir
	// that are named so. The words training; valid, val and dev; testing, eval
	// and evaluation mean the same, and other words may follow or precede after
	// a space, a digit or one of "-._". Default: all metadata files.
	Split string `json:"split"`
	// Columns are the chosen columns, in this order. Default: all.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "metadata_folder", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "a folder of files that metadata.jsonl or metadata.csv describes",
	})
}

// New returns a source of a folder with all metadata files and columns.
func New(dir string) *MetadataFolder { return &MetadataFolder{Dir: dir, Columns: []string{}} }

// splits has the words of folders that name a split.
var splits = map[string][]string{
	"train":      {"train", "training"},
	"validation": {"validation", "valid", "dev", "val"},
	"test":       {"test", "testing", "eval", "evaluation"},
}

// Validate requires a known split, and distinct column names.
func (o *MetadataFolder) Validate() error {
	if o.Split != "" && splits[o.Split] == nil {
		return fmt.Errorf("%w: split %q, want train, validation, test or none", dataset.ErrParam, o.Split)
	}
	seen := map[string]bool{}
	for _, c := range o.Columns {
		if c == "" || seen[c] {
			return fmt.Errorf("%w: column %q, want distinct non-empty names", dataset.ErrParam, c)
		}
		seen[c] = true
	}
	return nil
}

// Open reads the metadata.
func (o *MetadataFolder) Open(ctx context.Context, s store.Opener) (_ dataset.Data, err error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("metadatafolder: %w", err)
	}
	d := &rows{dir: o.Dir, ends: []int64{0}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("metadatafolder: %w", errors.Join(err, d.Close()))
		}
	}()
	if d.folder, err = files.OpenFolder(ctx, s, o.Dir); err != nil {
		return nil, err
	}
	var found []string
	if err := o.find(ctx, d.folder, "", &found, 0); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		of := ""
		if o.Split != "" {
			of = " in a folder of the split " + o.Split
		}
		return nil, fmt.Errorf("%w: %s has no metadata.jsonl or metadata.csv%s; image_folder reads folders without them", dataset.ErrData, store.Redact(o.Dir), of)
	}
	t := &types{at: map[string]int{}}
	for _, name := range found {
		if err := d.add(ctx, name, t); err != nil {
			return nil, err
		}
	}
	return d, d.choose(t, o.Columns)
}

// find appends the metadata files below a folder, sorted, by their names below
// Dir.
func (o *MetadataFolder) find(ctx context.Context, f store.Folder, below string, found *[]string, depth int) error {
	if depth > 100 {
		return fmt.Errorf("%w: %s has folders more than 100 deep", dataset.ErrData, store.Redact(o.Dir))
	}
	l, err := f.ListNames(ctx, store.Join(o.Dir, below))
	if err != nil {
		return err
	}
	for _, e := range l {
		name := path.Join(below, e.Base)
		switch {
		case e.Folder && !e.Link:
			if err := o.find(ctx, f, name, found, depth+1); err != nil {
				return err
			}
		case e.Folder || o.Split != "" && !inSplit(path.Dir(name), splits[o.Split]):
		case e.Base == "metadata.parquet":
			return fmt.Errorf("%w: %s is not read: want metadata.jsonl or metadata.csv, or the source parquet", dataset.ErrData, store.Redact(e.Name))
		case e.Base == "metadata.jsonl" || e.Base == "metadata.csv":
			if len(*found) > 0 && path.Ext((*found)[0]) != path.Ext(name) {
				return fmt.Errorf("%w: %s and %s in %s: want files of one kind", dataset.ErrData, (*found)[0], name, store.Redact(o.Dir))
			}
			*found = append(*found, name)
		}
	}
	return nil
}

// inSplit reports whether a folder on the way to dir is named as one of words.
func inSplit(dir string, words []string) bool {
	edge := func(s string, at int) bool {
		return at < 0 || at >= len(s) || strings.IndexByte("-._ 0123456789", s[at]) >= 0
	}
	for folder := range strings.SplitSeq(dir, "/") {
		for _, w := range words {
			for at := 0; at+len(w) <= len(folder); at++ {
				if folder[at:at+len(w)] == w && edge(folder, at-1) && edge(folder, at+len(w)) {
					return true
				}
			}
		}
	}
	return false
}

// column is a column of the metadata.
type column struct {
	name string // of the dataset
	from string // of the metadata
	file bool   // it names a file
	desc tensor.Desc
}

// meta is an open metadata file.
type meta struct {
	dataset.Rows
	csv   bool
	names []string // columns of a CSV file
	dir   string   // below Dir
}

type rows struct {
	folder  store.Folder
	dir     string
	files   []*meta
	ends    []int64 // the first row of each file, and the number of rows
	columns []column
	memory  sync.Pool // of *reading
}

// reading is the memory to read a row.
type reading struct {
	sample *dataset.Sample
	row
}

// add opens a metadata file and adds its columns to t.
func (d *rows) add(ctx context.Context, name string, t *types) error {
	m := &meta{csv: path.Ext(name) == ".csv", dir: path.Dir(name)}
	full := store.Join(d.dir, name)
	var src dataset.Source = textfile.New(full)
	if m.csv {
		src = csv.New(full)
	}
	data, err := src.Open(ctx, d.folder)
	if err != nil {
		return err
	}
	m.Rows = data.(dataset.Rows)
	d.files = append(d.files, m)
	d.ends = append(d.ends, d.Len()+m.Len())
	for _, c := range m.Columns() {
		m.names = append(m.names, c.Name)
	}
	r := &reading{}
	for i := range m.Len() {
		if err := m.parse(ctx, i, r); err != nil {
			return err
		}
		if err := t.add(&r.row); err != nil {
			return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(r.sample.Key), err)
		}
	}
	return nil
}

// parse reads a row of a metadata file.
func (m *meta) parse(ctx context.Context, i int64, r *reading) error {
	if r.sample == nil || len(r.sample.Values) != len(m.names) {
		r.sample = dataset.NewSample(m.Columns())
	}
	if err := m.Read(ctx, i, r.sample); err != nil {
		return err
	}
	r.reset()
	if !m.csv {
		if err := r.json(r.sample.Values[0].Data); err != nil {
			return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(r.sample.Key), err)
		}
		return nil
	}
	for k, name := range m.names {
		r.field(name, r.sample.Values[k].Data)
	}
	return nil
}

// choose sets the columns. No names choose all.
func (d *rows) choose(t *types, names []string) error {
	all := t.columns()
	var known []string
	for _, c := range all {
		known = append(known, c.name)
	}
	wanted, hint := names, ""
	if len(names) == 0 {
		wanted, hint = known, ": choose other columns"
	}
	file := false
	for _, name := range wanted {
		i := slices.Index(known, name)
		switch {
		case i < 0:
			return fmt.Errorf("%w: no column %q, want one of %q", dataset.ErrParam, name, known)
		case slices.Index(known[i+1:], name) >= 0:
			return fmt.Errorf("%w: two columns of the metadata are the column %q", dataset.ErrData, name)
		case all[i].bad != "":
			return fmt.Errorf("%w: column %q is %s%s", dataset.ErrData, name, all[i].bad, hint)
		}
		d.columns = append(d.columns, all[i].column)
		file = file || all[i].file
	}
	if len(names) == 0 && !file {
		return fmt.Errorf("%w: the metadata has the columns %q, want file_name or one that ends in _file_name", dataset.ErrData, known)
	}
	return nil
}

// Columns returns the chosen columns.
func (d *rows) Columns() (l []dataset.Column) {
	for _, c := range d.columns {
		l = append(l, dataset.Column{Name: c.name, Desc: c.desc})
	}
	return l
}

// Len returns the number of rows.
func (d *rows) Len() int64 { return d.ends[len(d.ends)-1] }

// row reads the metadata of a row. The caller puts r back.
func (d *rows) row(ctx context.Context, i int64) (*meta, *reading, error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, nil, fmt.Errorf("metadatafolder: %w", err)
	}
	k := 0
	for d.ends[k+1] <= i {
		k++
	}
	m := d.files[k]
	r, _ := d.memory.Get().(*reading)
	if r == nil {
		r = &reading{}
	}
	if err := m.parse(ctx, i-d.ends[k], r); err != nil {
		return nil, nil, fmt.Errorf("metadatafolder: %w", err)
	}
	return m, r, nil
}

// file returns the name of a file that a row names, and its key.
func (d *rows) file(m *meta, name []byte) (full, key string, err error) {
	key = string(name)
	switch {
	case key == "":
		return "", "", fmt.Errorf("%w: an empty name of a file", dataset.ErrData)
	case store.IsAbs(key):
		return key, key, nil // the folder refuses it if it is elsewhere
	}
	key = path.Join(m.dir, strings.ReplaceAll(key, `\`, "/"))
	return store.Join(d.dir, key), key, nil
}

// Read reads a row and its files.
func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	m, r, err := d.row(ctx, i)
	if err != nil {
		return err
	}
	defer d.memory.Put(r)
	s.Key = r.sample.Key
	fail := func(c *column, err error) error {
		return fmt.Errorf("metadatafolder: %s: column %q: %w", store.Redact(r.sample.Key), c.from, err)
	}
	first := true
	for k := range d.columns {
		c := &d.columns[k]
		v := r.find(c.from)
		if v == nil || v.kind == null && v.rank == 0 {
			return fail(c, fmt.Errorf("%w: it has no value", dataset.ErrData))
		}
		if !c.file {
			if err := v.set(&s.Values[k], c.desc); err != nil {
				return fail(c, fmt.Errorf("%w: %w", dataset.ErrData, err))
			}
			continue
		}
		name, key, err := d.file(m, v.text)
		if err != nil {
			return fail(c, err)
		}
		if first {
			s.Key, first = key, false
		}
		if err := files.Read(ctx, d.folder, &s.Values[k], name); err != nil {
			return fail(c, err)
		}
	}
	return nil
}

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	m, r, err := d.row(ctx, i)
	if err != nil {
		return nil, err
	}
	defer d.memory.Put(r)
	b = append(b, r.sample.Key...)
	for _, c := range d.columns {
		v := r.find(c.from)
		if !c.file || v == nil {
			continue
		}
		name, _, err := d.file(m, v.text)
		if err == nil {
			b, err = files.Stamp(ctx, d.folder, b, name)
		}
		if err != nil {
			return nil, fmt.Errorf("metadatafolder: %w", err)
		}
	}
	return b, nil
}

// Shards returns the first row of each metadata file.
func (d *rows) Shards() []int64 { return slices.Clone(d.ends[:len(d.ends)-1]) }

// Keys yields the keys of the metadata files.
func (d *rows) Keys(yield func(string) bool) {
	for _, m := range d.files {
		for k := range m.Rows.(dataset.Keyed).Keys {
			if !yield(k) {
				return
			}
		}
	}
}

// Close closes the files.
func (d *rows) Close() error {
	var errs []error
	for _, m := range d.files {
		errs = append(errs, m.Close())
	}
	if d.folder != nil {
		errs = append(errs, d.folder.Close())
	}
	d.files, d.folder = nil, nil
	return errors.Join(errs...)
}
