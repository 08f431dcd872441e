// Package imagefolder reads a folder that has one subfolder of images per
// class. Columns: image, label. Reference: torchvision's ImageFolder.
package imagefolder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// ImageFolder reads a folder whose subfolders are classes. A subfolder's name
// is the class's name, and all images below it, at any depth, belong to that
// class.
//
// Classes are numbered in the order of their names. Within a class, folders are
// sorted by path and images by name, byte by byte. Links are followed; a link
// to a parent folder is an error. Files with other extensions are ignored, and
// a class without images is an error. An image that can't be read is an error
// of its row. A link to an image outside the folder is followed; other links
// that lead out are refused, see store.Folder.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's ImageFolder has the same images, order and
// labels. Its order differs from walking the tree where the name of a folder,
// a-b, sorts between another, a, and its contents, a/c. MindSpore 2.10.0's
// ImageFolderDataset has the same columns, classes, order and ClassIndexing. By
// default it takes files of any extension, and a folder below a class folder is
// an error there.
type ImageFolder struct {
	Dir string `json:"dir"`
	// Extensions are the extensions of images, in lower case with a dot; files
	// may have capitals. Default: torchvision's .jpg .jpeg .png .ppm .bmp .pgm
	// .tif .tiff .webp.
	Extensions []string `json:"extensions"`
	// ClassIndexing numbers the classes; classes that it does not list are
	// ignored. Rows are sorted by the classes' names all the same. Default: 0,
	// 1, 2, … in the order of names.
	ClassIndexing map[string]int32 `json:"class_indexing"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "image_folder", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "a folder with a subfolder of images for each class",
	})
}

// New returns a source of a folder with torchvision's extensions.
func New(dir string) *ImageFolder {
	return &ImageFolder{
		Dir:        dir,
		Extensions: []string{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"},
		// An empty map, since null is a missing parameter.
		ClassIndexing: map[string]int32{},
	}
}

// Validate requires lower-case extensions with a dot, and class names that can
// be folders.
func (o *ImageFolder) Validate() error {
	if len(o.Extensions) == 0 {
		return fmt.Errorf("%w: no extensions, want 1 or more", dataset.ErrParam)
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
func (o *ImageFolder) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d, err := o.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("imagefolder: %w", err)
	}
	return d, nil
}

func (o *ImageFolder) open(ctx context.Context, s store.Opener) (_ *rows, err error) {
	d := &rows{dir: o.Dir, classes: map[string]int32{}}
	if d.folder, err = files.OpenFolder(ctx, s, o.Dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.folder.Close())
		}
	}()
	entries, err := d.folder.ListNames(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	wanted := o.ClassIndexing
	for _, e := range entries { // sorted by name
		label, named := wanted[e.Base]
		if !named && len(wanted) > 0 {
			continue
		}
		if !e.Folder {
			continue
		}
		if !named {
			label = int32(len(d.classes))
		}
		d.classes[e.Base] = label
		before := len(d.keys)
		if err := o.list(ctx, d, e.Base, label); err != nil {
			return nil, err
		}
		if len(d.keys) == before {
			return nil, fmt.Errorf("%w: class %q of %s has no image with an extension of %s",
				dataset.ErrData, e.Base, o.Dir, strings.Join(o.Extensions, " "))
		}
	}
	for name := range o.ClassIndexing {
		if _, ok := d.classes[name]; !ok {
			return nil, fmt.Errorf("%w: %s has no class %q", dataset.ErrData, store.Redact(o.Dir), name)
		}
	}
	if len(d.keys) == 0 {
		return nil, fmt.Errorf("%w: %s has no subfolders, want one for each class", dataset.ErrData, store.Redact(o.Dir))
	}
	return d, nil
}

// list adds the images of a class, folder by folder in the order of their
// paths.
func (o *ImageFolder) list(ctx context.Context, d *rows, class string, label int32) error {
	found := map[string][]string{}
	if err := o.walk(ctx, d, store.Entry{Name: store.Join(d.dir, class), Link: true}, class, []string{d.dir}, found); err != nil {
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

// walk collects the images of each folder in and below one, sorted by name.
// folder is the key of the folder. above lists the folders on the way, to
// detect a link to one of them. An irregular entry, such as a dangling link,
// counts as a file: it fails when it is read.
func (o *ImageFolder) walk(ctx context.Context, d *rows, in store.Entry, folder string, above []string, found map[string][]string) error {
	if in.Link {
		for _, a := range above {
			same, err := d.folder.SameFile(ctx, a, in.Name)
			if err != nil {
				return err
			}
			if same {
				return fmt.Errorf("%w: %s leads back to a folder above it", dataset.ErrData, in.Name)
			}
		}
	}
	above = append(above, in.Name)
	entries, err := d.folder.ListNames(ctx, in.Name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Folder {
			if err := o.walk(ctx, d, e, path.Join(folder, e.Base), above, found); err != nil {
				return err
			}
			continue
		}
		lower := strings.ToLower(e.Base)
		if slices.ContainsFunc(o.Extensions, func(x string) bool { return strings.HasSuffix(lower, x) }) {
			found[folder] = append(found[folder], e.Base)
		}
	}
	return nil
}

type rows struct {
	folder  store.Folder
	dir     string
	keys    []string // paths below dir, with slashes
	labels  []int32
	classes map[string]int32
}

func (d *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (d *rows) Len() int64 { return int64(len(d.keys)) }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return fmt.Errorf("imagefolder: %w", err)
	}
	s.Key = d.keys[i]
	if err := files.Read(ctx, d.folder, s.Column("image"), store.Join(d.dir, d.keys[i])); err != nil {
		return fmt.Errorf("imagefolder: %w", err)
	}
	return s.Column("label").SetInt32(d.labels[i])
}

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, fmt.Errorf("imagefolder: %w", err)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(d.labels[i]))
	b, err := files.Stamp(ctx, d.folder, b, store.Join(d.dir, d.keys[i]))
	if err != nil {
		return nil, fmt.Errorf("imagefolder: %w", err)
	}
	return b, nil
}

func (d *rows) Class(i int64) (int64, error) {
	if err := files.Index(i, d.Len()); err != nil {
		return 0, fmt.Errorf("imagefolder: %w", err)
	}
	return int64(d.labels[i]), nil
}

// Keys yields the images' paths below the folder.
func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.keys, yield) }

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return d.folder.Close() }
