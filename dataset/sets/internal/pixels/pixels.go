// Package pixels provides the rows of sources whose files hold the pixels of
// many images.
package pixels

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/tensor"
)

// Part is the images of one file.
type Part struct {
	Name string // of the file
	Size int64  // of the file in bytes
	// Labels are those of the images, Rows.Labels numbers each.
	Labels []int32
	// Fill writes the pixels of image i, as Rows.Image describes them. It is
	// safe for concurrent use.
	Fill func(pixels []byte, i int64) error
	File io.Closer // closed by Rows.Close, unless nil

	keys files.Keys
}

// Rows are the images of some parts, one after the other. Columns: image,
// label.
type Rows struct {
	Package string // for errors
	Image   tensor.Desc
	// Labels is 0 for a label that is a scalar, or the length of a vector whose
	// first number is the class.
	Labels  int
	Classes map[string]int32

	parts []Part
	n     int64
}

// width returns how many numbers the label of an image has.
func (r *Rows) width() int { return max(r.Labels, 1) }

// Add appends the images of a file, whose keys begin with key.
func (r *Rows) Add(key string, p Part) {
	n := int64(len(p.Labels) / r.width())
	p.keys = files.NewKeys(key, n)
	r.parts = append(r.parts, p)
	r.n += n
}

func (r *Rows) label() tensor.Desc {
	if r.Labels > 0 {
		return tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(r.Labels)}
	}
	return tensor.Desc{DType: tensor.Int32}
}

// Columns returns image and label.
func (r *Rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: r.Image}, {Name: "label", Desc: r.label()}}
}

// Len returns the number of images.
func (r *Rows) Len() int64 { return r.n }

// at returns the part with row i, the row's index in it and its label.
func (r *Rows) at(i int64) (*Part, int64, []int32, error) {
	if err := files.Index(i, r.n); err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", r.Package, err)
	}
	k, w := 0, r.width()
	for n := int64(len(r.parts[0].Labels) / w); i >= n; n = int64(len(r.parts[k].Labels) / w) {
		i -= n
		k++
	}
	return &r.parts[k], i, r.parts[k].Labels[int(i)*w:][:w], nil
}

// Read fills the image and the label of a row.
func (r *Rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, i, labels, err := r.at(i)
	if err != nil {
		return err
	}
	s.Key = p.keys.At(i)
	if err := s.Column("image").Reset(r.Image); err != nil {
		return err
	}
	if err := p.Fill(s.Column("image").Data, i); err != nil {
		return fmt.Errorf("%s: %w", r.Package, err)
	}
	if err := s.Column("label").Reset(r.label()); err != nil {
		return err
	}
	copy(tensor.View[int32](&s.Column("label").Tensor), labels)
	return nil
}

// Class returns the first number of a row's label.
func (r *Rows) Class(i int64) (int64, error) {
	_, _, l, err := r.at(i)
	if err != nil {
		return 0, err
	}
	return int64(l[0]), nil
}

// ClassIndex returns Classes.
func (r *Rows) ClassIndex() map[string]int32 { return r.Classes }

// Keys yields the name and size of each file.
func (r *Rows) Keys(yield func(string) bool) {
	for i := range r.parts {
		if !yield(files.SizeKey(r.parts[i].Name, r.parts[i].Size)) {
			return
		}
	}
}

// Close closes the files. Further calls do nothing.
func (r *Rows) Close() error {
	var errs []error
	for i := range r.parts {
		if f := r.parts[i].File; f != nil {
			errs = append(errs, f.Close())
			r.parts[i].File = nil
		}
	}
	return errors.Join(errs...)
}
