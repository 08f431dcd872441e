// Package sun397 reads the dataset SUN397: photos of 397 scenes. Columns:
// image, label. Reference: torchvision's SUN397 and MindSpore's SUN397Dataset.
package sun397

import (
	"context"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// SUN397 reads the images sun_*.jpg of the folders that ClassName.txt lists. A
// line is the folder of a class, /a/abbey for example; the class is abbey. Rows
// have the order of the classes, and within a class that of the names.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: MindSpore 2.10.0's SUN397Dataset has the same images, order and
// labels; its labels are uint32. torchvision 0.29.2's SUN397 has the same
// images and labels in the order of the file system. It ignores a class without
// a folder, which is an error here.
type SUN397 struct {
	Dir string `json:"dir"` // torchvision's ROOT/SUN397
}

func init() {
	dataset.Register(dataset.Info{Name: "sun397", Version: 1, New: func() dataset.Node { return New("") }, Doc: "SUN397: photos of 397 scenes"})
}

// New returns a source of all images.
func New(dir string) *SUN397 { return &SUN397{dir} }

// Validate accepts any folder.
func (o *SUN397) Validate() error { return nil }

var format = imagelist.Format{Package: "sun397", Files: []string{"image"}, Numbers: []string{"label"}}

// Open reads the classes and lists their folders.
func (o *SUN397) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		var folders []string
		err := l.Names(ctx, "ClassName.txt", func(line string) string {
			if len(line) < 4 || line[0] != '/' || line[2] != '/' {
				return "" // refused
			}
			folders = append(folders, line[1:])
			return line[3:]
		})
		if err != nil {
			return err
		}
		for class, folder := range folders {
			names, err := l.FilesIn(ctx, folder)
			if err != nil {
				return err
			}
			for _, name := range names {
				if strings.HasPrefix(name, "sun_") && strings.HasSuffix(name, ".jpg") {
					if err := l.Add([]string{folder + "/" + name}, int32(class)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}))
}
