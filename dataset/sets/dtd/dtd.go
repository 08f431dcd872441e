// Package dtd reads the Describable Textures Dataset. Columns: image, label.
// Reference: torchvision's DTD.
package dtd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// DTD reads the images that one of the lists labels/train1.txt to
// labels/test10.txt names. A line is CLASS/NAME; the image is
// images/CLASS/NAME. The classes of the list are numbered from 0 in the byte
// order of their names.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's DTD has the same images, order and labels.
// Its labels are those of the list, too: a list without some class numbers the
// others differently.
type DTD struct {
	Dir string `json:"dir"` // folder with images and labels: torchvision's ROOT/dtd/dtd
	// Usage is train, val or test. Default train.
	Usage string `json:"usage"`
	// Partition selects one of ten ways to divide the images, 1 to 10. Default
	// 1.
	Partition int `json:"partition"`
}

func init() {
	dataset.Register(dataset.Info{Name: "dtd", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Describable Textures: photos of 47 textures"})
}

// New returns a source of the training images of partition 1.
func New(dir string) *DTD { return &DTD{dir, "train", 1} }

// Validate checks the usage and the partition.
func (o *DTD) Validate() error {
	if o.Partition < 1 || o.Partition > 10 {
		return fmt.Errorf("%w: partition %d, want 1 to 10", dataset.ErrParam, o.Partition)
	}
	return files.Usage(o.Usage, "train", "val", "test")
}

var format = imagelist.Format{Package: "dtd", Files: []string{"image"}, Numbers: []string{"label"}}

// Open reads the list.
func (o *DTD) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		var lines []string
		seen := map[string]bool{}
		err := l.Lines(ctx, fmt.Sprintf("labels/%s%d.txt", o.Usage, o.Partition), func(line string) error {
			class, name, ok := strings.Cut(line, "/")
			if !ok || strings.Contains(name, "/") {
				return fmt.Errorf("%q, want CLASS/NAME", line)
			}
			seen[strings.Clone(class)] = true
			lines = append(lines, line)
			return nil
		})
		if err != nil {
			return err
		}
		l.Classes = imagelist.Number(slices.Sorted(maps.Keys(seen)))
		for _, line := range lines {
			class, _, _ := strings.Cut(line, "/")
			if err := l.Add([]string{"images/" + line}, l.Classes[class]); err != nil {
				return err
			}
		}
		return nil
	}))
}
