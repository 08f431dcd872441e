// Package places365 reads the dataset Places365: photos of 365 kinds of places.
// Columns: image, label. Reference: torchvision's Places365 and MindSpore's
// Places365Dataset.
package places365

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Places365 reads the images that one of the lists
// places365_train_standard.txt, places365_train_challenge.txt,
// places365_val.txt and places365_test.txt names, in its order. A line has an
// image and the number of its class. The folders are data_large_standard,
// data_large_challenge, val_large and test_large; for small images 256 replaces
// large. categories_places365.txt has the classes and their numbers.
//
// Columns: image (bytes: the file), label (int32 scalar: the class, -1 for the
// images of test, which have none).
//
// Reference: torchvision 0.29.2's Places365 has the same images, order, labels
// and classes; its label of test images is None. MindSpore 2.10.0's
// Places365Dataset has the same without test; its labels are uint32, and small
// is true by default. This source refuses labels beyond the last class, and
// images of test with a label.
type Places365 struct {
	Dir string `json:"dir"` // folder with the lists: torchvision's ROOT
	// Usage is train-standard, train-challenge, val or test. Default
	// train-standard.
	Usage string `json:"usage"`
	// Small selects the images of 256x256 pixels. Default false, as
	// torchvision's.
	Small bool `json:"small"`
}

func init() {
	dataset.Register(dataset.Info{Name: "places365", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Places365: photos of 365 kinds of places"})
}

// New returns a source of the large images of train-standard.
func New(dir string) *Places365 { return &Places365{dir, "train-standard", false} }

// Validate checks the usage.
func (o *Places365) Validate() error {
	return files.Usage(o.Usage, "train-standard", "train-challenge", "val", "test")
}

// maxClasses exceeds the number of classes, 365.
const maxClasses = 1 << 16

var format = imagelist.Format{Package: "places365", Files: []string{"image"}, Numbers: []string{"label"}}

// Open reads the classes and the list.
func (o *Places365) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		l.Classes = map[string]int32{}
		last := int32(-1)
		err := l.Lines(ctx, "categories_places365.txt", func(line string) error {
			e := strings.Fields(line)
			if len(e) != 2 {
				return fmt.Errorf("%d fields, want a class and its number", len(e))
			}
			n, err := imagelist.Int(e[1], "class", maxClasses)
			if err != nil {
				return err
			}
			if _, ok := l.Classes[e[0]]; ok {
				return fmt.Errorf("class %q a second time", e[0])
			}
			l.Classes[e[0]] = n
			last = max(last, n)
			return nil
		})
		if err != nil {
			return err
		}
		folder := o.folder()
		return l.Lines(ctx, "places365_"+strings.ReplaceAll(o.Usage, "-", "_")+".txt", func(line string) error {
			e := strings.Fields(line)
			label := int32(-1)
			switch {
			case o.Usage == "test" && len(e) != 1:
				return errors.New("several fields, want an image alone")
			case o.Usage != "test" && len(e) != 2:
				return fmt.Errorf("%d fields, want an image and its class", len(e))
			case o.Usage != "test":
				if label, err = imagelist.Int(e[1], "class", int(last)+1); err != nil {
					return err
				}
			}
			return l.Add([]string{folder + strings.TrimLeft(e[0], "/")}, label)
		})
	}))
}

// folder returns the folder of the images with a slash.
func (o *Places365) folder() string {
	size := "large"
	if o.Small {
		size = "256"
	}
	if variant, ok := strings.CutPrefix(o.Usage, "train-"); ok {
		return "data_" + size + "_" + variant + "/"
	}
	return o.Usage + "_" + size + "/"
}
