// Package lsun reads the dataset LSUN: photos of scenes in LMDB files. Columns:
// image, label. Reference: torchvision's LSUN and LSUNClass.
package lsun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/internal/lmdb"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// LSUN reads folders NAME_lmdb, each an LMDB environment whose values are the
// images of one class. Rows have the order of Classes, and within a class that
// of the keys. Open reads the index of each data.mdb: of 4,096 bytes for about
// 70 images it keeps 16. Values of more than 1 GiB are errors. LMDB's locks are
// neither needed nor respected: no process may write the files meanwhile.
//
// Columns: image (bytes: the file, WebP in the published set), label (int32
// scalar: the place of the class in Classes, from 0).
//
// ClassIndex maps Classes to the labels.
//
// Reference: torchvision 0.29.2's LSUN has the same rows, labels and order. Its
// LSUNClass, which reads one environment, has the rows of Classes without
// elements; its label None is -1 here.
type LSUN struct {
	Dir string `json:"dir"` // folder with the folders: torchvision's root
	// Classes lists classes by their folders without _lmdb: bedroom_train or
	// church_outdoor_val. The only element train or val means all ten
	// categories, test the folder test_lmdb. Without elements, Dir is itself an
	// environment of images without labels. Default train.
	Classes []string `json:"classes"`
}

func init() {
	dataset.Register(dataset.Info{Name: "lsun", Version: 1, New: func() dataset.Node { return New("") }, Doc: "LSUN: photos of scenes in LMDB files"})
}

// New returns a source of the training images of all categories.
func New(dir string) *LSUN { return &LSUN{dir, []string{"train"}} }

// The categories in torchvision's order, and the parts of each.
var (
	categories = []string{"bedroom", "bridge", "church_outdoor", "classroom", "conference_room", "dining_room", "kitchen", "living_room", "restaurant", "tower"}
	parts      = []string{"train", "val", "test"}
)

// Validate checks the classes.
func (o *LSUN) Validate() error {
	if len(o.Classes) == 1 && slices.Contains(parts, o.Classes[0]) {
		return nil
	}
	for i, c := range o.Classes {
		k := strings.LastIndexByte(c, '_')
		if k < 0 || !slices.Contains(categories, c[:k]) || !slices.Contains(parts, c[k+1:]) {
			return fmt.Errorf("%w: class %.80q, want CATEGORY_PART, where CATEGORY is one of %s, and PART one of %s; or one of the latter alone",
				dataset.ErrParam, c, strings.Join(categories, ", "), strings.Join(parts, ", "))
		}
		if slices.Contains(o.Classes[:i], c) {
			return fmt.Errorf("%w: class %q appears twice, want distinct ones", dataset.ErrParam, c)
		}
	}
	return nil
}

// classes returns the names of the classes.
func (o *LSUN) classes() []string {
	if len(o.Classes) != 1 || o.Classes[0] != "train" && o.Classes[0] != "val" {
		return o.Classes
	}
	var l []string
	for _, c := range categories {
		l = append(l, c+"_"+o.Classes[0])
	}
	return l
}

// Open reads the indices of the files.
func (o *LSUN) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &rows{}
	err := func() error {
		classes := o.classes()
		if len(classes) == 0 {
			return d.add(ctx, s, store.Join(o.Dir, dataFile), "", -1)
		}
		d.classes = map[string]int32{}
		for i, c := range classes {
			d.classes[c] = int32(i)
			if err := d.add(ctx, s, store.Join(o.Dir, c+"_lmdb/"+dataFile), c+"/", int32(i)); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		return nil, fmt.Errorf("lsun: %w", errors.Join(err, d.Close()))
	}
	return d, nil
}

const dataFile = "data.mdb"

// part is an open file.
type part struct {
	name   string
	file   store.File
	db     *lmdb.DB
	first  int64 // row
	prefix string
	label  int32
}

type rows struct {
	parts   []part
	n       int64
	classes map[string]int32
}

func (d *rows) add(ctx context.Context, s store.Opener, name, prefix string, label int32) error {
	f, err := s.Open(ctx, name)
	if err != nil {
		return err
	}
	p := part{name: name, file: f, first: d.n, prefix: prefix, label: label}
	p.db, err = lmdb.Open(ctx, f, f.Size())
	d.parts = append(d.parts, p)
	if err != nil {
		return p.wrap(err)
	}
	if p.db.Len() == 0 {
		return p.wrap(fmt.Errorf("%w: no images", dataset.ErrData))
	}
	d.n += p.db.Len()
	return nil
}

// wrap adds the name of the file to an error.
func (p *part) wrap(err error) error {
	if errors.As(err, new(*lmdb.Error)) {
		err = fmt.Errorf("%w: %w", dataset.ErrData, err)
	}
	return fmt.Errorf("%s: %w", store.Redact(p.name), err)
}

func (d *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (d *rows) Len() int64 { return d.n }

// part returns the file of row i.
func (d *rows) part(i int64) (*part, error) {
	if err := files.Index(i, d.n); err != nil {
		return nil, fmt.Errorf("lsun: %w", err)
	}
	return &d.parts[sort.Search(len(d.parts), func(k int) bool { return d.parts[k].first > i })-1], nil
}

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := d.part(i)
	if err != nil {
		return err
	}
	if err := p.read(i-p.first, s); err != nil {
		return fmt.Errorf("lsun: %w", p.wrap(err))
	}
	return s.Column("label").SetInt32(p.label)
}

func (p *part) read(i int64, s *dataset.Sample) error {
	var buf [512]byte // LMDB's keys have 511 bytes at most by default
	e, err := p.db.Entry(i, buf[:0])
	if err != nil {
		return err
	}
	s.Key = p.prefix + string(e.Key)
	if e.Need() > files.Limit {
		return fmt.Errorf("%w: %s has %d bytes, want at most %d", dataset.ErrData, s.Key, e.Size, files.Limit)
	}
	if err := p.db.Value(&e, s.Column("image").Bytes(int(e.Need()))); err != nil {
		return fmt.Errorf("%s: %w", s.Key, err)
	}
	s.Column("image").Bytes(int(e.Size)) // the same memory, without what Value needs beside it
	return nil
}

// Class returns the label of a row.
func (d *rows) Class(i int64) (int64, error) {
	p, err := d.part(i)
	if err != nil {
		return 0, err
	}
	return int64(p.label), nil
}

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

// Keys yields the name and size of each file.
func (d *rows) Keys(yield func(string) bool) {
	for _, p := range d.parts {
		if !yield(files.SizeKey(p.name, p.file.Size())) {
			return
		}
	}
}

// Close closes the files. Further calls do nothing.
func (d *rows) Close() error {
	var errs []error
	for i := range d.parts {
		if f := d.parts[i].file; f != nil {
			errs = append(errs, f.Close())
			d.parts[i].file = nil
		}
	}
	return errors.Join(errs...)
}
