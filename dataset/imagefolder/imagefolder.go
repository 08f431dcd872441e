// Package imagefolder is the dataset of a folder with a subfolder of images for
// each class.
package imagefolder

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageFolder is a folder whose subfolders are classes: the name of a subfolder
// is the class's name, and all images below it, at any depth, are of that class.
// Classes are numbered in the order of their names, and images are ordered by
// class and then by path, byte by byte. Links are followed. Files with other
// extensions are left out; a class without images is an error, as is an image
// that cannot be read.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's ImageFolder: the same images, order and labels.
// MindSpore's ImageFolderDataset has the same classes, and other labels if ClassIndexing is given.
type ImageFolder struct {
	Dir string `json:"dir"`
	// Extensions are those of images, with a dot, in lower case; a file's
	// extension may have capitals. Usually torchvision's: .jpg .jpeg .png .ppm
	// .bmp .pgm .tif .tiff .webp.
	Extensions []string `json:"extensions"`
	// ClassIndexing numbers the classes; those that it does not name are left out.
	// Empty: 0, 1, 2, … in the order of names.
	ClassIndexing map[string]int32 `json:"class_indexing"`
}

//msgp:tuple ImageFolder

func init() {
	dataset.Register(dataset.Info{
		Name: "image_folder", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "a folder with a subfolder of images for each class",
	})
}

// New makes the source with torchvision's extensions.
func New(dir string) *ImageFolder {
	return &ImageFolder{
		Dir:        dir,
		Extensions: []string{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"},
		// An empty map, since null is a missing parameter.
		ClassIndexing: map[string]int32{},
	}
}

// Validate wants extensions in lower case with a dot.
func (o *ImageFolder) Validate() error {
	if len(o.Extensions) == 0 {
		return fmt.Errorf("%w: no extensions", dataset.ErrParam)
	}
	for _, e := range o.Extensions {
		if !strings.HasPrefix(e, ".") || e != strings.ToLower(e) {
			return fmt.Errorf("%w: extension %q, want lower case with a dot", dataset.ErrParam, e)
		}
	}
	return nil
}

// Open lists the files.
func (o *ImageFolder) Open() (dataset.Data, error) {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("imagefolder: %w", err)
	}
	d := &rows{dir: o.Dir, classes: map[string]int32{}}
	var names []string
	for _, e := range entries {
		i, err := os.Stat(filepath.Join(o.Dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("imagefolder: %w", err)
		}
		if _, named := o.ClassIndexing[e.Name()]; i.IsDir() && (named || len(o.ClassIndexing) == 0) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for n, name := range names {
		label, ok := o.ClassIndexing[name]
		if !ok {
			label = int32(n)
		}
		d.classes[name] = label
		before := len(d.keys)
		if err := o.list(d, name, label, nil); err != nil {
			return nil, fmt.Errorf("imagefolder: %w", err)
		}
		if len(d.keys) == before {
			return nil, fmt.Errorf("imagefolder: %w: class %q of %s has no image with an extension of %s",
				dataset.ErrData, name, o.Dir, strings.Join(o.Extensions, " "))
		}
	}
	for name := range o.ClassIndexing {
		if _, ok := d.classes[name]; !ok {
			return nil, fmt.Errorf("imagefolder: %w: %s has no class %q", dataset.ErrData, o.Dir, name)
		}
	}
	if len(d.keys) == 0 {
		return nil, fmt.Errorf("imagefolder: %w: %s has no subfolders, want one for each class", dataset.ErrData, o.Dir)
	}
	return d, nil
}

// list adds the images of a folder of a class, sorted by path. Above it are the
// folders that it was reached by, so that a link to one of them is no endless walk.
func (o *ImageFolder) list(d *rows, folder string, label int32, above []fs.FileInfo) error {
	real := filepath.Join(d.dir, filepath.FromSlash(folder))
	here, err := os.Stat(real)
	if err != nil {
		return err
	}
	for _, a := range above {
		if os.SameFile(a, here) {
			return fmt.Errorf("%w: %s leads back to a folder above it", dataset.ErrData, real)
		}
	}
	above = append(above, here)
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	// torchvision goes through a folder's files, sorted, and then its subfolders, sorted.
	var folders []string
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		i, err := os.Stat(filepath.Join(real, e.Name()))
		switch {
		case err != nil:
			return err
		case i.IsDir():
			folders = append(folders, name)
		case slices.Contains(o.Extensions, strings.ToLower(path.Ext(name))):
			d.keys = append(d.keys, name)
			d.labels = append(d.labels, label)
		}
	}
	for _, f := range folders {
		if err := o.list(d, f, label, above); err != nil {
			return err
		}
	}
	return nil
}

type rows struct {
	dir     string
	keys    []string // paths below dir, with slashes
	labels  []int32
	classes map[string]int32
}

func (d *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (d *rows) Len() int64 { return int64(len(d.keys)) }

func (d *rows) Read(i int64, s *dataset.Sample) error {
	s.Key = d.keys[i]
	if err := files.Read(&s.Values[0], d.dir, d.keys[i]); err != nil {
		return err
	}
	return s.Values[1].SetInt32(d.labels[i])
}

func (d *rows) Class(i int64) (int64, error) { return int64(d.labels[i]), nil }

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return nil }
