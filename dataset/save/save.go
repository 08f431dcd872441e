// Package save is a node that writes the samples of a dataset to record files
// as they pass: RecordIO, MXNet's image records, webdataset's shards,
// MindRecord, TFRecord or Kaldi. Import the packages of the formats too, or
// records/all.
package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Save writes the samples of epoch 0, in their order, and passes all samples
// on. A column becomes the field of its name, and the key of a record is the
// number of its sample. docs/format/records.md says which fields a format can
// hold; Build refuses columns that it cannot.
//
// The files appear when the epoch ends at this node: a run that ends before, or
// a Take above it, leaves no file. A state within epoch 0 cannot be resumed.
// Existing files are replaced. Several ranks are refused.
//
// Build writes a sample of zeros to nowhere to check the columns; MindRecord
// makes a temporary file beside Path for it. Sizes that are unknown to Build
// are checked as samples pass. A sample that does not fit ends the run,
// whatever Options.OnError is.
//
// Reference: the idea of MindSpore's Dataset.save.
type Save struct {
	// Format is the name of a registered records.Format, such as imagerecord,
	// recordio, webdataset, mindrecord, tfexample, tfrecord or kaldi.
	Format string `json:"format"`
	// Path is the name of the file. For webdataset it may have a place for the
	// shard's number: data-%05d.tar.
	Path string `json:"path"`
	// Count is the largest number of samples of a file, for a Path with a
	// number, and for MindRecord, which numbers its files itself. Default 0:
	// the format's own.
	Count int `json:"count"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "save", Version: 1, New: func() dataset.Node { return &Save{} },
		Doc: "samples written to record files as they pass",
	})
}

// New returns a node that writes one file, or files by the format's own rule.
func New(format, path string) *Save { return &Save{Format: format, Path: path} }

// Validate requires a format that can be written, a path, and a count of 0 or
// more.
func (n *Save) Validate() error {
	f, err := records.Lookup(n.Format)
	switch {
	case err != nil:
		return fmt.Errorf("%w: save: %w (a format needs an import of its package)", dataset.ErrParam, err)
	case f.Create == nil:
		return fmt.Errorf("%w: save: format %s, want one that can be written", dataset.ErrParam, n.Format)
	case n.Path == "":
		return fmt.Errorf("%w: save: no path, want one", dataset.ErrParam)
	case n.Count < 0:
		return fmt.Errorf("%w: save: count %d, want 0 or more", dataset.ErrParam, n.Count)
	}
	return nil
}

// Check writes a sample of zeros and discards it.
func (n *Save) ValidateColumns(ctx context.Context, files store.Opener, columns []dataset.Column) (err error) {
	w, err := n.create(ctx, nowhere{files}, columns)
	if err != nil {
		return fmt.Errorf("%w: %w", dataset.ErrDefinition, err)
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	s := &dataset.Sample{}
	s.Resize(len(columns))
	for i, c := range columns {
		d := c.Desc
		for a := range d.Shape.Rank() { // small sizes, which formats do not tell from large ones
			if k := d.Shape.At(a); k == tensor.Unknown || k > 2 {
				d.Shape = d.Shape.With(a, 2)
			}
		}
		if d.DType == tensor.Bytes {
			clear(s.Values[i].Bytes(1))
			continue
		}
		if err := s.Values[i].Reset(d); err != nil {
			return err
		}
		clear(s.Values[i].Data)
	}
	if err := w.Write(s); err != nil {
		return fmt.Errorf("%w: %w", dataset.ErrDefinition, err)
	}
	return nil
}

// Create begins to write the files.
func (n *Save) Create(ctx context.Context, files store.Opener, columns []dataset.Column) (dataset.SinkWriter, error) {
	return n.create(ctx, &held{Opener: files}, columns)
}

// holder is a store whose files wait for commit.
type holder interface {
	store.Opener
	commit() error
	discard() error
}

func (n *Save) create(ctx context.Context, files holder, columns []dataset.Column) (*writer, error) {
	f, err := records.Lookup(n.Format)
	if err != nil {
		return nil, err
	}
	w := &writer{files: files}
	for _, c := range columns {
		w.record.Fields = append(w.record.Fields, records.Field{Name: c.Name})
	}
	w.out, err = f.Create(ctx, files, n.Path, records.WriteOptions{Count: n.Count})
	return w, err
}

// writer turns samples into records.
type writer struct {
	files  holder
	out    records.Writer
	record records.Record
	number int64
}

func (w *writer) Write(s *dataset.Sample) error {
	w.record.Key, w.record.Offset = strconv.FormatInt(w.number, 10), -1
	for i := range w.record.Fields {
		v := &w.record.Fields[i].Value
		*v = s.Values[i].Tensor
		v.Layout = tensor.NoLayout
		if !v.Dense() {
			*v = *v.Clone()
		}
	}
	w.number++
	return w.out.Write(&w.record)
}

// Close makes the files appear.
func (w *writer) Close() error {
	if err := w.out.Close(); err != nil {
		return errors.Join(err, w.files.discard())
	}
	return w.files.commit()
}

func (w *writer) Abort() error { return errors.Join(w.out.Abort(), w.files.discard()) }

// held is a store whose new files appear at commit, all of them. A format that
// writes several files would show the first ones earlier.
type held struct {
	store.Opener
	waiting []store.NewFile
}

func (h *held) Create(ctx context.Context, name string) (store.NewFile, error) {
	f, err := h.Opener.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	return &heldFile{f, h}, nil
}

// CheckAccess implements records.LocalOpener.
func (h *held) CheckAccess(name string, write bool) error { return checkAccess(h.Opener, name, write) }

// checkAccess allows a format the files of this machine if o does.
func checkAccess(o store.Opener, name string, write bool) error {
	if l, ok := o.(records.LocalOpener); ok {
		return l.CheckAccess(name, write)
	}
	if store.IsLocal(o, name) {
		return nil
	}
	return fmt.Errorf("save: %s: %w: files behind %T, want those of this machine", name, errors.ErrUnsupported, o)
}

func (h *held) commit() error {
	for i, f := range h.waiting {
		if err := f.Close(); err != nil {
			h.waiting = h.waiting[i+1:]
			return errors.Join(err, h.discard())
		}
	}
	h.waiting = nil
	return nil
}

func (h *held) discard() (err error) {
	for _, f := range h.waiting {
		err = errors.Join(err, f.Abort())
	}
	h.waiting = nil
	return err
}

type heldFile struct {
	store.NewFile
	h *held
}

func (f *heldFile) Close() error {
	f.h.waiting = append(f.h.waiting, f.NewFile)
	return nil
}

// nowhere is a store whose new files are discarded.
type nowhere struct{ store.Opener }

func (nowhere) Create(context.Context, string) (store.NewFile, error) {
	return discarded{io.Discard}, nil
}

// CheckAccess implements records.LocalOpener.
func (n nowhere) CheckAccess(name string, write bool) error {
	return checkAccess(n.Opener, name, write)
}

func (nowhere) commit() error  { return nil }
func (nowhere) discard() error { return nil }

type discarded struct{ io.Writer }

func (discarded) Close() error { return nil }
func (discarded) Abort() error { return nil }
