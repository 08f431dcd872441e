// Package caltech256 reads the dataset Caltech 256: photos of 257 classes.
// Columns: image, label. Reference: torchvision's Caltech256 and MindSpore's
// Caltech256Dataset.
package caltech256

import (
	"context"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Caltech256 reads a folder of class folders, 001.ak47 for example, whose
// images are 001_0001.jpg and so on. Classes are numbered from 0 in the order
// of the folders' names.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's Caltech256 takes image 1 to n of a folder
// with n files *.jpg, and so does this source. An image that the numbering
// skips is an error of its row. MindSpore 2.10.0's Caltech256Dataset has the
// same images, order and labels.
type Caltech256 struct {
	// Dir is the folder with the class folders: torchvision's
	// ROOT/caltech256/256_ObjectCategories.
	Dir string `json:"dir"`
}

func init() {
	dataset.Register(dataset.Info{Name: "caltech256", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Caltech 256: photos of 257 classes"})
}

// New returns a source of all images.
func New(dir string) *Caltech256 { return &Caltech256{dir} }

// Validate accepts any folder.
func (o *Caltech256) Validate() error { return nil }

var format = imagelist.Format{Package: "caltech256", Files: []string{"image"}, Numbers: []string{"label"}}

// Open lists the files.
func (o *Caltech256) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		classes, err := l.Folders(ctx, "")
		if err != nil {
			return err
		}
		l.Classes = imagelist.Number(classes)
		for c, class := range classes {
			names, err := l.FilesIn(ctx, class)
			if err != nil {
				return err
			}
			n := 0
			for _, name := range names {
				if strings.HasSuffix(name, ".jpg") {
					n++
					if err := l.Add([]string{fmt.Sprintf("%s/%03d_%04d.jpg", class, c+1, n)}, int32(c)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}))
}
