// Package imagerecord is the dataset of the image records of RecordIO files, as MXNet packs them.
package imagerecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageRecord is the images of RecordIO files.
//
// Columns: image (bytes: the encoded image, as it was packed), label (float32, as many as LabelWidth) and id (int64).
//
// With an index Open reads nothing else; without one it goes once through all files, or the
// part's bytes, and keeps 16 bytes for each record. Files are mapped where the system can: images are then views
// of the mapping, valid until the dataset is closed, and nothing is copied. The Key is the file
// and the record's offset in it, "train.rec@1234".
//
// Reference: MXNet 1.9.1's ImageRecordIter: the same records in the order of the
// files, which are sorted by name here.
type ImageRecord struct {
	// Files are names of files and folders with semicolons between, as store.Files takes them.
	Files string `json:"files"`
	// Index is the .idx file of all files together; empty for none.
	Index string `json:"index"`
	// List is a .lst file whose labels are taken in place of the records', by the records' ids: a record that
	// is not in it is a bad sample. Empty for none.
	List string `json:"list"`
	// LabelWidth is the number of labels of each record: one that has others is a bad sample.
	// Of a line of the list that has more, they are the first ones.
	LabelWidth int `json:"label_width"`
	// Part of Parts is what is read: MXNet's part_index of num_parts. With an index parts are
	// divided by records, without one by bytes, as recordio.Split does. Usually 0 of 1.
	Part  int `json:"part"`
	Parts int `json:"parts"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "image_record", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "the image records of RecordIO files",
	})
}

// New makes the source of files without an index, with one label for each record.
func New(files string) *ImageRecord { return &ImageRecord{Files: files, LabelWidth: 1, Parts: 1} }

const (
	maxLabels = 1 << 20 // of a record
	maxParts  = 1 << 24 // package recordio's
)

// Validate wants files, a number of labels, and a part that there is.
func (o *ImageRecord) Validate() error {
	if o.Files == "" {
		return fmt.Errorf("%w: no files", dataset.ErrParam)
	}
	if o.LabelWidth < 1 || o.LabelWidth > maxLabels {
		return fmt.Errorf("%w: %d labels, want 1 to %d", dataset.ErrParam, o.LabelWidth, maxLabels)
	}
	if o.Parts < 1 || o.Parts > maxParts || o.Part < 0 || o.Part >= o.Parts {
		return fmt.Errorf("%w: part %d of %d", dataset.ErrParam, o.Part, o.Parts)
	}
	return nil
}

// Open finds the records.
func (o *ImageRecord) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("imagerecord: %w", err)
	}
	list, err := store.Files(ctx, files, strings.Split(o.Files, ";"), false)
	if err != nil {
		return nil, fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err)
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
	labels map[uint64][]float32 // by id, if there is a list
	memory sync.Pool            // of *memory
}

// memory is what reading a record takes.
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
			return fmt.Errorf("%s: id %d has %d labels, want %d", name, i.Index, len(i.Labels), r.width)
		}
		if _, twice := r.labels[i.Index]; twice {
			return fmt.Errorf("%s: id %d is there twice", name, i.Index)
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

// labelsOf are the labels of a record.
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

// Columns are image, label and id.
func (r *rows) Columns() []dataset.Column {
	return []dataset.Column{
		{Name: "image", Desc: tensor.Encoded()},
		{Name: "label", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(r.width)}},
		{Name: "id", Desc: tensor.Desc{DType: tensor.Int64}},
	}
}

// Len is the number of records.
func (r *rows) Len() int64 { return int64(r.index.Len()) }

// Read reads a record.
func (r *rows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= r.Len() {
		return fmt.Errorf("imagerecord: %w: row %d of %d", dataset.ErrParam, i, r.Len())
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
		s.Values[0].ShareBytes(m.record.Content)
	} else {
		copy(s.Values[0].Bytes(len(m.record.Content)), m.record.Content)
	}
	if err := s.Values[1].Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(r.width)}); err != nil {
		return err
	}
	copy(tensor.View[float32](&s.Values[1].Tensor), labels)
	if err := s.Values[2].Reset(tensor.Desc{DType: tensor.Int64}); err != nil {
		return err
	}
	tensor.View[int64](&s.Values[2].Tensor)[0] = int64(m.record.ID)
	return nil
}

// Close closes the files.
func (r *rows) Close() error { return r.stream.Close() }
