// Package stl10 reads the dataset STL-10, binary version: photos of ten classes
// and photos without labels. Columns: image, label. Reference: torchvision's
// STL10 and MindSpore's STL10Dataset.
package stl10

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// STL10 reads train_X.bin, train_y.bin, test_X.bin, test_y.bin and
// unlabeled_X.bin, those that Usage needs. If a file NAME does not exist,
// NAME.gz is read: Open unpacks it into memory. class_names.txt names the
// classes; they have no names if it is missing.
//
// Columns: image (uint8 HWC (96, 96, 3), RGB), label (int32 scalar: the class
// from 0, or -1 for images without a label).
//
// Reference: MindSpore 2.10.0's STL10Dataset has the same rows and order of all
// usages; it has no folds. torchvision 0.29.2's STL10 has the same images,
// labels and folds, and no usage all. This source refuses labels other than 1
// to 10.
type STL10 struct {
	Dir string `json:"dir"` // torchvision's ROOT/stl10_binary
	// Usage is train, test, unlabeled, train+unlabeled, or all, which is test,
	// train, unlabeled. Default train.
	Usage string `json:"usage"`
	// Fold is the line, from 0 to 9, of fold_indices.txt that lists the
	// training images, or -1 for all. It needs usage train or train+unlabeled.
	// Default -1.
	Fold int `json:"fold"`
}

func init() {
	dataset.Register(dataset.Info{Name: "stl10", Version: 1, New: func() dataset.Node { return New("") }, Doc: "STL-10, binary version: 96x96 photos of ten classes, and some without labels"})
}

// New returns a source of all training images.
func New(dir string) *STL10 { return &STL10{dir, "train", -1} }

// Validate checks the usage and the fold.
func (o *STL10) Validate() error {
	switch {
	case o.Fold < -1 || o.Fold > 9:
		return fmt.Errorf("%w: fold %d, want -1 to 9", dataset.ErrParam, o.Fold)
	case o.Fold >= 0 && !strings.HasPrefix(o.Usage, "train"):
		return fmt.Errorf("%w: fold %d of usage %q, want usage train or train+unlabeled", dataset.ErrParam, o.Fold, o.Usage)
	}
	return files.Usage(o.Usage, "train", "test", "unlabeled", "train+unlabeled", "all")
}

const (
	side  = 96
	plane = side * side
	image = 3 * plane
)

var parts = map[string][]string{
	"train": {"train"}, "test": {"test"}, "unlabeled": {"unlabeled"},
	"train+unlabeled": {"train", "unlabeled"}, "all": {"test", "train", "unlabeled"},
}

// Open reads the labels and checks the sizes of the files.
func (o *STL10) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &pixels.Rows{Package: "stl10", Image: tensor.Image(tensor.Uint8, tensor.HWC, side, side, 3)}
	err := func() (err error) {
		if d.Classes, err = files.Names(ctx, s, o.Dir, "class_names.txt"); err != nil {
			return err
		}
		for _, name := range parts[o.Usage] {
			if err := o.add(ctx, s, d, name); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		return nil, fmt.Errorf("stl10: %w", errors.Join(err, d.Close()))
	}
	return d, nil
}

// add adds the images of train, test or unlabeled.
func (o *STL10) add(ctx context.Context, s store.Opener, d *pixels.Rows, name string) (err error) {
	f, err := files.Open(ctx, s, o.Dir, name+"_X.bin")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	p := pixels.Part{Name: f.Name, Size: f.Size, File: f}
	if f.Packed {
		size, err := f.Unpacked()
		if err != nil {
			return err
		}
		if err := f.Inflate(size); err != nil {
			return err
		}
		p.Size = size
	}
	n := f.Size / image
	if n == 0 || f.Size%image != 0 || n > imagelist.MaxRows {
		return f.Errorf(n*image, "the file has %d bytes, want images of %d", f.Size, image)
	}
	if name == "unlabeled" {
		p.Labels = make([]int32, n)
		for i := range p.Labels {
			p.Labels[i] = -1
		}
	} else if p.Labels, err = labels(ctx, s, o.Dir, name+"_y.bin", n); err != nil {
		return err
	}
	at := func(i int64) int64 { return i }
	if name == "train" && o.Fold >= 0 {
		rows, err := o.fold(ctx, s, n)
		if err != nil {
			return err
		}
		all := p.Labels
		p.Labels = make([]int32, len(rows))
		for i, r := range rows {
			p.Labels[i] = all[r]
		}
		at = func(i int64) int64 { return int64(rows[i]) }
	}
	p.Fill = func(out []byte, i int64) error {
		buf := scratch.Get().(*[image]byte)
		defer scratch.Put(buf)
		if err := f.Fill(buf[:], at(i)*image); err != nil {
			return err
		}
		// A plane of the file has its columns one after the other.
		for c := range 3 {
			for x := range side {
				for y := range side {
					out[(y*side+x)*3+c] = buf[c*plane+x*side+y]
				}
			}
		}
		return nil
	}
	d.Add(name, p)
	return nil
}

// scratch holds images as stored.
var scratch = sync.Pool{New: func() any { return new([image]byte) }}

// labels reads n labels, one byte each.
func labels(ctx context.Context, s store.Opener, dir, name string, n int64) (_ []int32, err error) {
	f, err := files.Open(ctx, s, dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Packed {
		err = f.Inflate(n)
	} else if f.Size != n {
		err = f.Errorf(0, "%d labels, want %d, the number of images", f.Size, n)
	}
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if err := f.Fill(b, 0); err != nil {
		return nil, err
	}
	l := make([]int32, n)
	for i, v := range b {
		if v < 1 || v > 10 {
			return nil, f.Errorf(int64(i), "label %d, want 1 to 10", v)
		}
		l[i] = int32(v) - 1
	}
	return l, nil
}

// fold reads the rows of a fold; n is the number of images.
func (o *STL10) fold(ctx context.Context, s store.Opener, n int64) (rows []int32, err error) {
	name := store.Join(o.Dir, "fold_indices.txt")
	f, err := new(files.Lists).Open(ctx, s, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line := 0
	err = imagelist.Lines(f, name, func(text string) error {
		if line++; line != o.Fold+1 {
			return nil
		}
		for _, t := range strings.Fields(text) {
			r, err := imagelist.Int(t, "image", int(n))
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: %s:%d: no fold %d", dataset.ErrData, store.Redact(name), line, o.Fold)
	}
	return rows, err
}
