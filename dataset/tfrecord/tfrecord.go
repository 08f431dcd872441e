// Package tfrecord reads the records of TFRecord files. Column: data.
// Reference: TensorFlow's documentation of TFRecord.
package tfrecord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TFRecord reads the records of TFRecord files without decoding them; most
// contain an encoded tf.train.Example.
//
// Column: data (bytes).
//
// Open reads the headers of all records once, verifies their checksums and
// keeps 8 bytes per record. The checksum of the data is verified when a record
// is read. Files stay open and are mapped if the system can do so. Records are
// then views of the mapping, valid until the dataset is closed. The Key is the
// file and the record's offset in it, "train.tfrecord@1234".
//
// Reference: TensorFlow 2's documentation of TFRecord. Files that are
// compressed as a whole are refused, since their first header is invalid.
type TFRecord struct {
	// Files are names of files and folders, as store.Files expands them.
	Files []string `json:"files"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "tfrecord", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the records of TFRecord files",
	})
}

// New returns a source of files.
func New(files ...string) *TFRecord { return &TFRecord{append([]string{}, files...)} }

// Validate requires files.
func (o *TFRecord) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	return nil
}

// Open finds the records.
func (o *TFRecord) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("tfrecord: %w", err)
	}
	list, err := store.Files(ctx, files, o.Files, false)
	if err != nil {
		return nil, fmt.Errorf("tfrecord: %w: %w", dataset.ErrData, err)
	}
	r := &rows{starts: []int64{0}}
	for _, i := range list {
		if err := r.add(ctx, files, i.Name); err != nil {
			return nil, errors.Join(fmt.Errorf("tfrecord: %w: %w", dataset.ErrData, err), r.Close())
		}
	}
	return r, nil
}

type file struct {
	store.File
	name    string
	mapped  []byte
	offsets []int64 // of the records, and the end
}

// rows is the opened files.
type rows struct {
	files  []file
	starts []int64 // the first row of each file, and the number of rows
}

func (r *rows) add(ctx context.Context, files store.Opener, name string) error {
	f, err := files.Open(ctx, name)
	if err != nil {
		return err
	}
	x := file{File: f, name: name, mapped: store.MappedBytes(f)}
	from := io.ReaderAt(f)
	if x.mapped != nil {
		from = bytes.NewReader(x.mapped)
	}
	if x.offsets, err = tfrecord.Scan(from, f.Size(), tfrecord.Options{Name: name}); err != nil {
		return errors.Join(err, f.Close())
	}
	r.files = append(r.files, x)
	r.starts = append(r.starts, r.Len()+int64(len(x.offsets)-1))
	return nil
}

// Columns returns data.
func (r *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "data", Desc: tensor.Encoded()}}
}

// Len returns the number of records.
func (r *rows) Len() int64 { return r.starts[len(r.starts)-1] }

// Shards returns the first row of each file.
func (r *rows) Shards() []int64 { return slices.Clone(r.starts[:len(r.starts)-1]) }

// Keys yields the name and size of each file.
func (r *rows) Keys(yield func(string) bool) {
	for i := range r.files {
		f := &r.files[i]
		if !yield(files.SizeKey(f.name, f.offsets[len(f.offsets)-1])) {
			return
		}
	}
}

// Read reads a record.
func (r *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, r.Len()); err != nil {
		return fmt.Errorf("tfrecord: %w", err)
	}
	k := sort.Search(len(r.files), func(k int) bool { return r.starts[k+1] > i })
	f := &r.files[k]
	at, end := f.offsets[i-r.starts[k]], f.offsets[i-r.starts[k]+1]
	s.Key = f.name + "@" + strconv.FormatInt(at, 10)
	v := s.Column("data")
	b := f.mapped
	if b != nil {
		b = b[at:end]
	} else {
		b = v.Bytes(int(end - at))
		if _, err := f.ReadAt(b, at); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // the file was truncated
			}
			return fmt.Errorf("tfrecord: %w: %s: %w", dataset.ErrData, s.Key, err)
		}
	}
	data, err := tfrecord.NewBytes(b, tfrecord.Options{Name: f.name, Offset: at}).Next()
	if err != nil {
		return fmt.Errorf("tfrecord: %w: %w", dataset.ErrData, err)
	}
	if f.mapped != nil {
		v.ShareBytes(data)
	} else {
		copy(b, data) // overwrites its own header
		v.Bytes(len(data))
	}
	return nil
}

// Close closes the files.
func (r *rows) Close() error {
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.Close())
	}
	r.files = nil
	return errors.Join(errs...)
}
