// Package imagerecord reads the image records of RecordIO files, as MXNet packs
// them. Columns: image, label, id. Reference: MXNet's ImageRecordIter.
package imagerecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageRecord reads the image records of RecordIO files.
//
// Columns: image (bytes: the encoded image as packed), label (float32
// (LabelWidth)), id (int64 scalar).
//
// With an index, Open reads only the index. Without one it reads all files, or
// the part's bytes, once, and keeps 16 bytes per record. Files are mapped if
// the system can do so. Images are then views of the mapping, valid until the
// dataset is closed, and nothing is copied. The Key is the file and the
// record's offset in it, "train.rec@1234".
//
// Reference: MXNet 1.9.1's ImageRecordIter has the same records in the order of
// the files. The files of a folder are sorted by name here.
type ImageRecord struct {
	// Files are names of files and folders, as store.Files expands them.
	Files []string `json:"files"`
	// Index is the .idx file of all files together. Empty: no index.
	Index string `json:"index"`
	// List is a .lst file whose labels replace those of the records with the
	// same ids. A record that it does not list is a bad sample. Empty: no list.
	List string `json:"list"`
	// LabelWidth is the number of labels of each record; a record with another
	// number is a bad sample. If a line of the list has more labels, the first
	// ones are used.
	LabelWidth int `json:"label_width"`
	// Part of Parts is the part that is read: MXNet's part_index of num_parts.
	// With an index parts are divided by records, without one by bytes as in
	// recordio.Split. Default 0 of 1.
	Part  int `json:"part"`
	Parts int `json:"parts"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "image_record", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the image records of RecordIO files",
	})
}

// New returns a source of files without an index, with one label per record.
func New(files ...string) *ImageRecord {
	return &ImageRecord{Files: append([]string{}, files...), LabelWidth: 1, Parts: 1}
}

const (
	maxLabels = 1 << 20 // of a record
	maxParts  = 1 << 24 // as in package recordio
)

// Validate requires files, a number of labels and a valid part.
func (o *ImageRecord) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	if o.LabelWidth < 1 || o.LabelWidth > maxLabels {
		return fmt.Errorf("%w: label_width %d, want 1 to %d", dataset.ErrParam, o.LabelWidth, maxLabels)
	}
	if o.Parts < 1 || o.Parts > maxParts || o.Part < 0 || o.Part >= o.Parts {
		return fmt.Errorf("%w: part %d of %d, want a part from 0 and 1 to %d parts", dataset.ErrParam, o.Part, o.Parts, maxParts)
	}
	return nil
}

// Open finds the records.
func (o *ImageRecord) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("imagerecord: %w", err)
	}
	list, err := store.Files(ctx, files, o.Files, false)
	if err != nil {
		return nil, fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err)
	}
	for _, f := range list { // Read may open a file first; a FileCache compares those that Open looks up
		if _, err := files.Stat(ctx, f.Name); err != nil {
			return nil, fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err)
		}
	}
	r := &rows{width: o.LabelWidth}
	if r.stream, err = recordio.NewStream(ctx, files, list, 4); err != nil {
		return nil, fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err)
	}
	if err := r.open(ctx, files, o); err != nil {
		return nil, errors.Join(fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err), r.stream.Close())
	}
	return r, nil
}

// rows is the opened files.
type rows struct {
	width  int
	stream *recordio.Stream
	index  *recordio.Indexed
	list   string
	labels map[uint64][]float32 // by id; nil without a list
	memory sync.Pool            // of *memory
}

// memory is the memory for reading a record.
type memory struct {
	buf    recordio.Buffer
	record imagerecord.Record
}

func (r *rows) open(ctx context.Context, files store.Opener, o *ImageRecord) (err error) {
	if o.List != "" {
		if err := r.readList(ctx, files, o.List); err != nil {
			return err
		}
	}
	var entries []recordio.Entry
	var end int64
	if o.Index == "" {
		entries, end, err = r.stream.IndexPart(o.Part, o.Parts, recordio.Options{})
	} else if entries, err = read(ctx, files, o.Index, recordio.ReadIndex); err == nil {
		entries, end, err = r.stream.PartIndex(entries, o.Part, o.Parts, recordio.Options{Name: o.Index})
	}
	if err == nil {
		r.index, err = r.stream.IndexedTo(end, entries, recordio.Options{Name: o.Index})
	}
	return err
}

// readList reads the labels of a list.
func (r *rows) readList(ctx context.Context, files store.Opener, name string) error {
	items, err := read(ctx, files, name, imagerecord.ReadList)
	if err != nil {
		return err
	}
	r.list, r.labels = name, make(map[uint64][]float32, len(items))
	for _, i := range items {
		if len(i.Labels) < r.width {
			return fmt.Errorf("%s: id %d has %d labels, want %d", store.Redact(name), i.Index, len(i.Labels), r.width)
		}
		if _, twice := r.labels[i.Index]; twice {
			return fmt.Errorf("%s: id %d appears twice, want distinct ids", store.Redact(name), i.Index)
		}
		r.labels[i.Index] = i.Labels[:r.width]
	}
	return nil
}

func read[T any](ctx context.Context, files store.Opener, name string, parse func(string, io.Reader) ([]T, error)) ([]T, error) {
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := parse(name, io.NewSectionReader(f, 0, f.Size()))
	return l, errors.Join(err, f.Close())
}

// labelsOf returns the labels of a record.
func (r *rows) labelsOf(m *imagerecord.Record) ([]float32, error) {
	if r.labels != nil {
		l, ok := r.labels[m.ID]
		if !ok {
			return nil, fmt.Errorf("id %d is not in %s", m.ID, r.list)
		}
		return l, nil
	}
	if len(m.Labels) != r.width {
		return nil, fmt.Errorf("%d labels, want %d", len(m.Labels), r.width)
	}
	return m.Labels, nil
}

// Columns returns image, label and id.
func (r *rows) Columns() []dataset.Column {
	return []dataset.Column{
		{Name: "image", Desc: tensor.Encoded()},
		{Name: "label", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(r.width)}},
		{Name: "id", Desc: tensor.Desc{DType: tensor.Int64}},
	}
}

// Len returns the number of records.
func (r *rows) Len() int64 { return int64(r.index.Len()) }

// Shards returns the first row of each run of records of one file.
func (r *rows) Shards() (l []int64) {
	last := ""
	for i := range r.index.Len() {
		if file, _ := r.index.Place(i); i == 0 || file != last {
			l, last = append(l, int64(i)), file
		}
	}
	return l
}

// Keys yields the file and offset of each record.
func (r *rows) Keys(yield func(string) bool) {
	for i := range r.index.Len() {
		if file, at := r.index.Place(i); !yield(file + "@" + strconv.FormatInt(at, 10)) {
			return
		}
	}
}

// Read reads a record.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("imagerecord: %w", err)
	}
	file, at := r.index.Place(int(i))
	s.Key = file + "@" + strconv.FormatInt(at, 10)
	m, _ := r.memory.Get().(*memory)
	if m == nil {
		m = &memory{}
	}
	defer r.memory.Put(m)
	b, shared, err := r.index.Record(int(i), &m.buf)
	if err == nil {
		err = m.record.Parse(b)
	}
	var labels []float32
	if err == nil {
		labels, err = r.labelsOf(&m.record)
	}
	if err != nil {
		return fmt.Errorf("imagerecord: %w: %s: %w", dataset.ErrData, s.Key, err)
	}
	if shared {
		s.Column("image").ShareBytes(m.record.Content)
	} else {
		copy(s.Column("image").Bytes(len(m.record.Content)), m.record.Content)
	}
	if err := s.Column("label").Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(r.width)}); err != nil {
		return err
	}
	copy(tensor.View[float32](&s.Column("label").Tensor), labels)
	if err := s.Column("id").Reset(tensor.Desc{DType: tensor.Int64}); err != nil {
		return err
	}
	tensor.View[int64](&s.Column("id").Tensor)[0] = int64(m.record.ID)
	return nil
}

// Close closes the files.
func (r *rows) Close() error { return r.stream.Close() }
