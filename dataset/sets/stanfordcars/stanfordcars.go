// Package stanfordcars reads the dataset Stanford Cars: photos of 196 cars.
// Columns: image, label. Reference: torchvision's StanfordCars.
package stanfordcars

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/matfile"
	"github.com/infer-prep/infer-prep/store"
)

// StanfordCars reads the images of cars_train that devkit/cars_train_annos.mat
// lists, or those of cars_test that cars_test_annos_withlabels.mat lists, in
// its order. devkit/cars_meta.mat names the classes.
//
// Columns: image (bytes: the file), label (int32 scalar: the class from 0).
//
// Reference: torchvision 0.29.2's StanfordCars has the same images, order,
// labels and classes. It accepts classes without a name.
type StanfordCars struct {
	Dir string `json:"dir"` // torchvision's ROOT/stanford_cars
	// Usage is train or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "stanford_cars", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Stanford Cars: photos of 196 cars"})
}

// New returns a source of the training images.
func New(dir string) *StanfordCars { return &StanfordCars{dir, "train"} }

// Validate checks the usage.
func (o *StanfordCars) Validate() error { return files.Usage(o.Usage, "train", "test") }

// maxMat exceeds the size of the annotations, some megabytes unpacked.
const maxMat = 256 << 20

var format = imagelist.Format{Package: "stanfordcars", Files: []string{"image"}, Numbers: []string{"label"}}

// Open reads the annotations.
func (o *StanfordCars) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		err := read(ctx, l, "devkit/cars_meta.mat", "class_names", func(a *matfile.Array) error {
			l.Classes = map[string]int32{}
			for i, c := range a.Cells {
				name, err := c.Text()
				if err != nil {
					return fmt.Errorf("class %d: %w", i, err)
				}
				l.Classes[name] = int32(i)
			}
			return nil
		})
		if err != nil {
			return err
		}
		list, folder := "devkit/cars_train_annos.mat", "cars_train/"
		if o.Usage == "test" {
			list, folder = "cars_test_annos_withlabels.mat", "cars_test/"
		}
		return read(ctx, l, list, "annotations", func(a *matfile.Array) error {
			for i := range a.Len() {
				name, class, err := annotation(a, i, int32(len(l.Classes)))
				if err != nil {
					return fmt.Errorf("annotation %d: %w", i, err)
				}
				if err := l.Add([]string{folder + name}, class-1); err != nil {
					return err
				}
			}
			return nil
		})
	}))
}

// read reads an array of a file.
func read(ctx context.Context, l *imagelist.List, file, array string, each func(*matfile.Array) error) error {
	name := store.Join(l.Dir, file)
	arrays, err := matfile.Open(ctx, l.Folder, name, maxMat)
	if err != nil {
		return err
	}
	a, err := arrays.Get(array)
	if err == nil {
		err = each(a)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(name), err)
	}
	return nil
}

// annotation returns the file and the class of a car.
func annotation(a *matfile.Array, i int, classes int32) (name string, class int32, err error) {
	f, err := a.Field(i, "fname")
	if err != nil {
		return "", 0, err
	}
	if name, err = f.Text(); err != nil {
		return "", 0, fmt.Errorf("fname: %w", err)
	}
	if f, err = a.Field(i, "class"); err != nil {
		return "", 0, err
	}
	if class, err = f.Int(1, classes); err != nil {
		return "", 0, fmt.Errorf("class: %w", err)
	}
	return name, class, nil
}
