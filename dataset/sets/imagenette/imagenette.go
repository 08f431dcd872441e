// Package imagenette reads the dataset Imagenette: ten classes of ImageNet.
// Columns: image, label. Reference: torchvision's Imagenette.
package imagenette

import (
	"context"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Imagenette reads the .JPEG files of the class folders of train or val. The
// folders are named by WordNet ids; they are numbered in the byte order of
// their names.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's Imagenette has the same images, order, labels
// and names of classes; a class has several names. A folder of another WordNet
// id is an error in both.
type Imagenette struct {
	Dir string `json:"dir"` // torchvision's ROOT/imagenette2, imagenette2-320 or imagenette2-160
	// Usage is train or val. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "imagenette", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Imagenette: ten classes of ImageNet"})
}

// New returns a source of the training images.
func New(dir string) *Imagenette { return &Imagenette{dir, "train"} }

// Validate checks the usage.
func (o *Imagenette) Validate() error { return files.Usage(o.Usage, "train", "val") }

// names are the names of the classes in torchvision 0.29.2, by WordNet id.
var names = map[string][]string{
	"n01440764": {"tench", "Tinca tinca"},
	"n02102040": {"English springer", "English springer spaniel"},
	"n02979186": {"cassette player"},
	"n03000684": {"chain saw", "chainsaw"},
	"n03028079": {"church", "church building"},
	"n03394916": {"French horn", "horn"},
	"n03417042": {"garbage truck", "dustcart"},
	"n03425413": {"gas pump", "gasoline pump", "petrol pump", "island dispenser"},
	"n03445777": {"golf ball"},
	"n03888257": {"parachute", "chute"},
}

// Open lists the files.
func (o *Imagenette) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	f := imagefolder.New(store.Join(o.Dir, o.Usage))
	f.Extensions = []string{".jpeg"}
	d, err := f.Open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("imagenette: %w", err)
	}
	classes := map[string]int32{}
	for id, n := range d.(dataset.ClassIndexed).ClassIndex() {
		if names[id] == nil {
			err := fmt.Errorf("%w: %s has a folder %q, want the WordNet ids of Imagenette", dataset.ErrData, store.Redact(f.Dir), id)
			return nil, fmt.Errorf("imagenette: %w", errors.Join(err, d.Close()))
		}
		for _, name := range names[id] {
			classes[name] = n
		}
	}
	return imagelist.Rename(d, classes), nil
}
