// Package clevr reads the dataset CLEVR for classification: pictures of scenes
// with the number of their objects. Columns: image, label. Reference:
// torchvision's CLEVRClassification.
package clevr

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/jsonstream"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// CLEVR reads the files of images/USAGE, sorted by name.
// scenes/CLEVR_USAGE_scenes.json has their scenes; test has none.
//
// Columns: image (bytes: the file), label (int32 scalar: the number of objects,
// -1 for usage test).
//
// Reference: torchvision 0.29.2's CLEVRClassification has the same images,
// order and labels; its label of test images is None. An image without a scene
// is an error in both, and here a second scene of an image is one, too.
type CLEVR struct {
	Dir string `json:"dir"` // folder with images and scenes: torchvision's ROOT/clevr/CLEVR_v1.0
	// Usage is train, val or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "clevr", Version: 1, New: func() dataset.Node { return New("") }, Doc: "CLEVR: pictures of scenes with the number of their objects"})
}

// New returns a source of the training images.
func New(dir string) *CLEVR { return &CLEVR{dir, "train"} }

// Validate checks the usage.
func (o *CLEVR) Validate() error { return files.Usage(o.Usage, "train", "val", "test") }

var format = imagelist.Format{Package: "clevr", Files: []string{"image"}, Numbers: []string{"label"}}

// Open lists the images and reads the scenes.
func (o *CLEVR) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		folder := "images/" + o.Usage
		names, err := l.FilesIn(ctx, folder)
		if err != nil {
			return err
		}
		list := "scenes/CLEVR_" + o.Usage + "_scenes.json"
		objects := map[string]int32{}
		if o.Usage != "test" {
			if err := l.JSON(ctx, list, func(s *jsonstream.Scanner) error { return scenes(s, objects) }); err != nil {
				return err
			}
		}
		for _, name := range names {
			n, ok := objects[name]
			switch {
			case o.Usage == "test":
				n = -1
			case !ok:
				return fmt.Errorf("%w: %s has no scene of image %q", dataset.ErrData, store.Redact(store.Join(o.Dir, list)), name)
			}
			if err := l.Add([]string{folder + "/" + name}, n); err != nil {
				return err
			}
		}
		return nil
	}))
}

// scenes counts the objects of each image.
func scenes(s *jsonstream.Scanner, objects map[string]int32) error {
	found := false
	err := s.Object(func(key []byte) error {
		if string(key) != "scenes" {
			return s.Skip()
		}
		found = true
		return s.Array(func() error { return scene(s, objects) })
	})
	if err == nil && !found {
		err = s.Errorf("no scenes")
	}
	return err
}

func scene(s *jsonstream.Scanner, objects map[string]int32) error {
	name, n := "", int32(-1)
	err := s.Object(func(key []byte) (err error) {
		switch string(key) {
		case "image_filename":
			name, err = s.String()
		case "objects":
			n = 0
			err = s.Array(func() error {
				if n++; n > 1<<20 {
					return s.Errorf("more than %d objects", 1<<20)
				}
				return s.Skip()
			})
		default:
			err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, ok := objects[name]; ok || name == "" || n < 0 || len(objects) == imagelist.MaxRows {
		return s.Errorf("scene of image %q with objects: %v; want image_filename, objects, and one scene an image", name, n >= 0)
	}
	objects[name] = n
	return nil
}
