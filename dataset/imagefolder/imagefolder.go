// Package imagefolder is the dataset of a folder with a subfolder of images for
// each class.
package imagefolder

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageFolder is a folder whose subfolders are classes: the name of a subfolder
// is the class's name, and all images below it, at any depth, are of that class.
// Classes are numbered in the order of their names. Within a class, folders are
// ordered by path, byte by byte, and so are the images of a folder. Links are
// followed, but for one to a folder above it, which is an error. Files with other
// extensions are left out; a class without images is an error, as is, when it is
// read, an image that cannot be read. Reading a file allocates what the operating
// system's calls take, some hundred bytes.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's ImageFolder: the same images, order and labels
// (which differ from walking the tree where the name of a folder, a-b, sorts
// between another, a, and what is in it, a/c). MindSpore 2.10.0's
// ImageFolderDataset has the same columns, classes and order, and ClassIndexing;
// but it takes files of any extension unless told otherwise, and no folders below
// those of the classes, where an image is an error.
type ImageFolder struct {
	Dir string `json:"dir"`
	// Extensions are those of images, with a dot, in lower case; a file's
	// extension may have capitals. Usually torchvision's: .jpg .jpeg .png .ppm
	// .bmp .pgm .tif .tiff .webp.
	Extensions []string `json:"extensions"`
	// ClassIndexing numbers the classes; those that it does not name are left out.
	// The order of rows is still that of the classes' names. Empty: 0, 1, 2, … in
	// the order of names.
	ClassIndexing map[string]int32 `json:"class_indexing"`
}

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

// Validate wants extensions in lower case with a dot, and classes that are folders, once each.
func (o *ImageFolder) Validate() error {
	if len(o.Extensions) == 0 {
		return fmt.Errorf("%w: no extensions", dataset.ErrParam)
	}
	for _, e := range o.Extensions {
		if !strings.HasPrefix(e, ".") || e != strings.ToLower(e) {
			return fmt.Errorf("%w: extension %q, want lower case with a dot", dataset.ErrParam, e)
		}
	}
	for name := range o.ClassIndexing {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
			return fmt.Errorf("%w: class_indexing: class %q, want the name of a folder", dataset.ErrParam, name)
		}
	}
	return nil
}

// Open lists the files.
func (o *ImageFolder) Open(context.Context, store.Opener) (dataset.Data, error) {
	d, err := o.open()
	if err != nil {
		return nil, fmt.Errorf("imagefolder: %w", err)
	}
	return d, nil
}

func (o *ImageFolder) open() (*rows, error) {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil, err
	}
	wanted := o.ClassIndexing
	d := &rows{dir: o.Dir, classes: map[string]int32{}}
	for _, e := range entries { // sorted by name
		label, named := wanted[e.Name()]
		if !named && len(wanted) > 0 {
			continue
		}
		if !isFolder(o.Dir, e) {
			continue
		}
		if !named {
			label = int32(len(d.classes))
		}
		d.classes[e.Name()] = label
		before := len(d.keys)
		if err := o.list(d, e.Name(), label); err != nil {
			return nil, err
		}
		if len(d.keys) == before {
			return nil, fmt.Errorf("%w: class %q of %s has no image with an extension of %s",
				dataset.ErrData, e.Name(), o.Dir, strings.Join(o.Extensions, " "))
		}
	}
	for name := range o.ClassIndexing {
		if _, ok := d.classes[name]; !ok {
			return nil, fmt.Errorf("%w: %s has no class %q", dataset.ErrData, o.Dir, name)
		}
	}
	if len(d.keys) == 0 {
		return nil, fmt.Errorf("%w: %s has no subfolders, want one for each class", dataset.ErrData, o.Dir)
	}
	return d, nil
}

// isFolder says if an entry of dir is a folder or leads to one. A link that leads
// nowhere is a file, which fails when it is read.
func isFolder(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	i, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && i.IsDir()
}

// list adds the images of a class: of its folders, ordered by path.
func (o *ImageFolder) list(d *rows, class string, label int32) error {
	found := map[string][]string{}
	if err := o.walk(d.dir, class, nil, found); err != nil {
		return err
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		for _, name := range found[folder] {
			d.keys = append(d.keys, folder+"/"+name)
			d.labels = append(d.labels, label)
		}
	}
	return nil
}

// walk finds the images of each folder in and below one, sorted by name. Above it
// are the folders that it was reached by, so that a link to one of them is no
// endless walk.
func (o *ImageFolder) walk(dir, folder string, above []fs.FileInfo, found map[string][]string) error {
	real := filepath.Join(dir, filepath.FromSlash(folder))
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
	for _, e := range entries {
		if isFolder(real, e) {
			if err := o.walk(dir, path.Join(folder, e.Name()), above, found); err != nil {
				return err
			}
			continue
		}
		lower := strings.ToLower(e.Name())
		if slices.ContainsFunc(o.Extensions, func(x string) bool { return strings.HasSuffix(lower, x) }) {
			found[folder] = append(found[folder], e.Name())
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

func (d *rows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := files.Index(i, d.Len()); err != nil {
		return fmt.Errorf("imagefolder: %w", err)
	}
	s.Key = d.keys[i]
	if err := files.Read(&s.Values[0], d.dir, d.keys[i]); err != nil {
		return fmt.Errorf("imagefolder: %w", err)
	}
	return s.Values[1].SetInt32(d.labels[i])
}

func (d *rows) Class(i int64) (int64, error) {
	if err := files.Index(i, d.Len()); err != nil {
		return 0, fmt.Errorf("imagefolder: %w", err)
	}
	return int64(d.labels[i]), nil
}

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return nil }
