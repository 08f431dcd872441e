// Package imagerecord is the dataset of the image records of RecordIO files, as MXNet packs them.
package imagerecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageRecord is the images of RecordIO files.
//
// Columns: image (bytes: the encoded image, as it was packed), label (float32, as many as LabelWidth) and id (int64).
//
// With an index Open reads nothing else; without one it goes through all files
// once, and keeps 8 bytes for each record. Files are mapped where the system can: images are then views
// of the mapping, valid until the dataset is closed, and nothing is copied. The Key is the file
// and the record's offset in it, "train.rec@1234".
//
// Reference: MXNet 1.9.1's ImageRecordIter: the same records in the order of the
// files, which are sorted by name here.
type ImageRecord struct {
	// Files are names of files and folders with semicolons between, as recordio.Files takes them.
	Files string `json:"files"`
	// Index is the .idx file of all files together; empty for none. The rows are in its order.
	Index string `json:"index"`
	// LabelWidth is the number of labels of each record: one that has others is a bad sample.
	LabelWidth int `json:"label_width"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "image_record", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "the image records of RecordIO files",
	})
}

// New makes the source of files without an index, with one label for each record.
func New(files string) *ImageRecord { return &ImageRecord{Files: files, LabelWidth: 1} }

// maxLabels bounds the labels of a record.
const maxLabels = 1 << 20

// Validate wants files and a number of labels.
func (o *ImageRecord) Validate() error {
	if o.Files == "" {
		return fmt.Errorf("%w: no files", dataset.ErrParam)
	}
	if o.LabelWidth < 1 || o.LabelWidth > maxLabels {
		return fmt.Errorf("%w: %d labels, want 1 to %d", dataset.ErrParam, o.LabelWidth, maxLabels)
	}
	return nil
}

// Open finds the records.
func (o *ImageRecord) Open() (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("imagerecord: %w", err)
	}
	ctx := context.Background()
	files, err := recordio.Files(ctx, recordio.Local, o.Files, false)
	if err != nil {
		return nil, fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err)
	}
	r := &rows{width: o.LabelWidth}
	if r.stream, err = recordio.NewStream(ctx, recordio.Local, files, 4); err != nil {
		return nil, fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err)
	}
	if err := r.open(ctx, o.Index); err != nil {
		return nil, errors.Join(fmt.Errorf("imagerecord: %w: %w", dataset.ErrData, err), r.stream.Close())
	}
	return r, nil
}

// rows is the opened files.
type rows struct {
	width  int
	stream *recordio.Stream
	index  *recordio.Indexed
	memory sync.Pool // of *memory
}

// memory is what reading a record takes.
type memory struct {
	buf    recordio.Buffer
	record imagerecord.Record
}

func (r *rows) open(ctx context.Context, index string) (err error) {
	var entries []recordio.Entry
	if index == "" {
		entries, err = r.stream.Index(recordio.Options{})
	} else {
		entries, err = readIndex(ctx, index)
	}
	if err == nil {
		r.index, err = r.stream.Indexed(entries, recordio.Options{Name: index})
	}
	return err
}

func readIndex(ctx context.Context, name string) ([]recordio.Entry, error) {
	f, err := recordio.Local.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := recordio.ReadIndex(name, io.NewSectionReader(f, 0, f.Size()))
	return l, errors.Join(err, f.Close())
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
func (r *rows) Read(i int64, s *dataset.Sample) error {
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
	if err == nil && len(m.record.Labels) != r.width {
		err = fmt.Errorf("%d labels, want %d", len(m.record.Labels), r.width)
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
	copy(tensor.View[float32](&s.Values[1].Tensor), m.record.Labels)
	if err := s.Values[2].Reset(tensor.Desc{DType: tensor.Int64}); err != nil {
		return err
	}
	tensor.View[int64](&s.Values[2].Tensor)[0] = int64(m.record.ID)
	return nil
}

// Close closes the files.
func (r *rows) Close() error { return r.stream.Close() }
