// Package fgvcaircraft reads the dataset FGVC Aircraft: photos of aircraft.
// Columns: image, label. Reference: torchvision's FGVCAircraft.
package fgvcaircraft

import (
	"context"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// FGVCAircraft reads the images that data/images_LEVEL_USAGE.txt names, in its
// order. A line has the image's id, a space and its class; the image is
// data/images/ID.jpg. data/variants.txt, families.txt or manufacturers.txt list
// the classes in the order of their numbers.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's FGVCAircraft has the same images, order,
// labels and classes.
type FGVCAircraft struct {
	Dir string `json:"dir"` // folder with data: torchvision's ROOT/fgvc-aircraft-2013b
	// Usage is train, val, trainval or test. Default trainval.
	Usage string `json:"usage"`
	// Level is variant, family or manufacturer: torchvision's annotation_level.
	// Default variant.
	Level string `json:"level"`
}

func init() {
	dataset.Register(dataset.Info{Name: "fgvc_aircraft", Version: 1, New: func() dataset.Node { return New("") }, Doc: "FGVC Aircraft: photos of aircraft by variant, family or manufacturer"})
}

// New returns a source of the images for training and validation with their
// variants.
func New(dir string) *FGVCAircraft { return &FGVCAircraft{dir, "trainval", "variant"} }

var lists = map[string]string{"variant": "variants", "family": "families", "manufacturer": "manufacturers"}

// Validate checks the usage and the level.
func (o *FGVCAircraft) Validate() error {
	if lists[o.Level] == "" {
		return fmt.Errorf("%w: level %q, want variant, family or manufacturer", dataset.ErrParam, o.Level)
	}
	return files.Usage(o.Usage, "train", "val", "trainval", "test")
}

var format = imagelist.Format{Package: "fgvcaircraft", Files: []string{"image"}, Numbers: []string{"label"}}

// Open reads the classes and the list.
func (o *FGVCAircraft) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		if err := l.Names(ctx, "data/"+lists[o.Level]+".txt", func(s string) string { return s }); err != nil {
			return err
		}
		return l.Lines(ctx, "data/images_"+o.Level+"_"+o.Usage+".txt", func(line string) error {
			id, class, _ := strings.Cut(line, " ")
			n, ok := l.Classes[class]
			if !ok {
				return fmt.Errorf("class %.80q of image %.80q, want one of %s.txt", class, id, lists[o.Level])
			}
			return l.Add([]string{"data/images/" + id + ".jpg"}, n)
		})
	}))
}
