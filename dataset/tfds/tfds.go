// Package tfds reads the folders of TensorFlow Datasets. Columns: the features
// of the data set. Reference: tfds.
package tfds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/tfrecord"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/store"
)

// TFDS reads a split of a folder that TensorFlow Datasets prepared: the one
// with dataset_info.json, features.json and the shards, such as mnist/3.0.1.
// The shards are TFRecord files, which the source tfrecord opens. Files in
// other formats, such as array_record, are refused.
//
// Columns: the features in the order of their names, or the chosen ones. Images
// are bytes, the encoded file; text is bytes. Labels are int64. Other features
// are arrays of their type and shape, but uint32 and uint64 are int64. The
// features of a nested dict have names with a dot, objects.bbox. A sequence
// gives each feature in it one more axis; nested ones must have equal lengths
// in a row. Videos, sequences of images and of text, and types of other
// packages can't be read, so the other columns must be chosen then. A chosen
// feature that a record lacks is an error of its row.
//
// Open reads the headers of all records, and compares the number of records in
// each shard with dataset_info.json. The Key is the shard and the record's
// offset in it, as in the source tfrecord. The class names are those of the
// only chosen label, from its file label.labels.txt.
//
// Reference: tensorflow-datasets 4.9.10 has the same rows in the same order
// without shuffling, read one shard after the other.
type TFDS struct {
	Dir string `json:"dir"`
	// Split is the name of a split in dataset_info.json. Default: train.
	Split string `json:"split"`
	// Columns are the chosen columns, in this order. Default: all.
	Columns []string `json:"columns"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "tfds", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "a split of a folder that TensorFlow Datasets prepared",
	})
}

// New returns a source of the split train with all columns.
func New(dir string) *TFDS { return &TFDS{Dir: dir, Split: "train", Columns: []string{}} }

// Validate requires a split, and distinct column names.
func (o *TFDS) Validate() error {
	if o.Split == "" {
		return fmt.Errorf("%w: no split, want one such as train", dataset.ErrParam)
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

const (
	maxInfo   = 64 << 20 // bytes of a JSON file
	maxShards = 1 << 20
)

// info is dataset_info.json.
type info struct {
	Name   string `json:"name"`
	Format string `json:"fileFormat"`
	Splits []struct {
		Name     string   `json:"name"`
		Template string   `json:"filepathTemplate"`
		Lengths  []string `json:"shardLengths"`
	} `json:"splits"`
}

// Open opens the shards of the split.
func (o *TFDS) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d, err := o.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("tfds: %w", err)
	}
	return d, nil
}

func (o *TFDS) open(ctx context.Context, s store.Opener) (*rows, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	var x info
	if err := o.json(ctx, s, "dataset_info.json", &x); err != nil {
		return nil, err
	}
	var top feature
	if err := o.json(ctx, s, "features.json", &top); err != nil {
		return nil, err
	}
	if x.Format != "" && x.Format != "tfrecord" {
		return nil, fmt.Errorf("%w: %s has files of the format %q, want tfrecord: prepare the data set with file_format=\"tfrecord\"", dataset.ErrData, store.Redact(o.Dir), x.Format)
	}
	var known []string
	for _, p := range x.Splits {
		if known = append(known, p.Name); p.Name != o.Split {
			continue
		}
		names, err := shards(x.Name, p.Name, p.Template, len(p.Lengths))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: split %q: %w", dataset.ErrData, store.Redact(o.Dir), o.Split, err)
		}
		columns, classes, err := o.columns(ctx, s, &top)
		if err != nil {
			return nil, err
		}
		for i, n := range names {
			names[i] = store.Join(o.Dir, n)
		}
		in, err := tfrecord.New(names...).Open(ctx, s)
		if err != nil {
			return nil, err
		}
		d := &rows{in: in.(records), columns: columns, classes: classes}
		if err := d.check(names, p.Lengths); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		return d, nil
	}
	return nil, fmt.Errorf("%w: split %q, want one of %q", dataset.ErrParam, o.Split, known)
}

// json reads a JSON file of the folder.
func (o *TFDS) json(ctx context.Context, s store.Opener, name string, to any) error {
	full := store.Join(o.Dir, name)
	b, err := store.ReadFile(ctx, s, full, nil, maxInfo)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(full), err)
	}
	return nil
}

// shards returns the names of the n shards of a split.
func shards(name, split, template string, n int) ([]string, error) {
	if n == 0 || n > maxShards {
		return nil, fmt.Errorf("%d shard lengths, want 1 to %d", n, maxShards)
	}
	if template == "" {
		template = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
	}
	digits := max(len(strconv.Itoa(n)), 5)
	l := make([]string, n)
	for i := range l {
		at, of := fmt.Sprintf("%0*d", digits, i), fmt.Sprintf("%0*d", digits, n)
		l[i] = strings.NewReplacer("{DATASET}", name, "{SPLIT}", split, "{FILEFORMAT}", "tfrecord",
			"{SHARD_INDEX}", at, "{NUM_SHARDS}", of, "{SHARD_X_OF_Y}", at+"-of-"+of).Replace(template)
		if !fs.ValidPath(l[i]) || strings.ContainsAny(l[i], "{};") {
			return nil, fmt.Errorf("a shard is named %q, want a path within the folder", l[i])
		}
	}
	return l, nil
}

// columns returns the chosen columns, and the class names of their only label.
func (o *TFDS) columns(ctx context.Context, s store.Opener, top *feature) (l []column, classes map[string]int32, err error) {
	all, err := top.columns()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(store.Join(o.Dir, "features.json")), err)
	}
	var known []string
	for _, c := range all {
		known = append(known, c.Name)
	}
	wanted, hint := o.Columns, ""
	if len(wanted) == 0 {
		wanted, hint = known, ": choose other columns"
	}
	label := -1
	for _, name := range wanted {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, nil, fmt.Errorf("%w: no column %q, want one of %q", dataset.ErrParam, name, known)
		}
		if all[i].bad != "" {
			return nil, nil, fmt.Errorf("%w: column %q is %s%s", dataset.ErrData, name, all[i].bad, hint)
		}
		if all[i].label {
			if label++; label == 0 {
				if classes, err = files.Names(ctx, s, o.Dir, name+".labels.txt"); err != nil {
					return nil, nil, err
				}
			}
		}
		l = append(l, all[i])
	}
	if label > 0 {
		classes = nil
	}
	return l, classes, nil
}

// records is the rows of the open shards.
type records interface {
	dataset.Rows
	dataset.Keyed
	Shards() []int64
}

type rows struct {
	in      records
	columns []column
	classes map[string]int32
	memory  sync.Pool // of *dataset.Sample of in
}

// check compares the number of records in each shard with the expected ones.
func (d *rows) check(names, lengths []string) error {
	starts := append(d.in.Shards(), d.in.Len())
	if len(starts) != len(names)+1 {
		return fmt.Errorf("%w: %d shards, want %d", dataset.ErrData, len(starts)-1, len(names))
	}
	for i, want := range lengths {
		if n := starts[i+1] - starts[i]; strconv.FormatInt(n, 10) != want {
			return fmt.Errorf("%w: %s has %d records, want the %s of dataset_info.json", dataset.ErrData, store.Redact(names[i]), n, want)
		}
	}
	return nil
}

// Columns returns the chosen columns.
func (d *rows) Columns() (l []dataset.Column) {
	for _, c := range d.columns {
		l = append(l, c.Column)
	}
	return l
}

// Len returns the number of records.
func (d *rows) Len() int64 { return d.in.Len() }

// Shards returns the first row of each shard.
func (d *rows) Shards() []int64 { return d.in.Shards() }

// Keys yields the name and size of each shard.
func (d *rows) Keys(yield func(string) bool) { d.in.Keys(yield) }

// ClassIndex returns the class names.
func (d *rows) ClassIndex() map[string]int32 { return d.classes }

// Read reads a record.
func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	x, _ := d.memory.Get().(*dataset.Sample)
	if x == nil {
		x = dataset.NewSample(d.in.Columns())
	}
	defer d.memory.Put(x)
	if err := d.in.Read(ctx, i, x); err != nil {
		return fmt.Errorf("tfds: %w", err)
	}
	s.Key = x.Key
	l, err := tfexample.Parse(x.Values[0].Data)
	if err != nil {
		return fmt.Errorf("tfds: %w: %s: %w", dataset.ErrData, store.Redact(s.Key), err)
	}
	for k := range d.columns {
		if err := d.columns[k].set(&s.Values[k], l); err != nil {
			return fmt.Errorf("tfds: %w: %s: column %q: %w", dataset.ErrData, store.Redact(s.Key), d.columns[k].Name, err)
		}
	}
	return nil
}

// Close closes the shards.
func (d *rows) Close() error { return d.in.Close() }

// column is a feature of the records.
type column struct {
	dataset.Column
	from     string // name in the records
	label    bool
	ragged   int   // nested sequences, whose lengths the records have; 0 for one at most
	shape    []int // of the feature, sequences included; -1 for unknown sizes
	encoding string
	wide     bool // unsigned numbers of 64 bits
	bad      string
}
