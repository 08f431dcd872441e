// Package omniglot reads Omniglot: handwritten characters of 50 alphabets.
// Columns: image, label. Reference: torchvision's Omniglot and MindSpore's
// OmniglotDataset.
package omniglot

import (
	"context"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Omniglot reads the files images_background/ALPHABET/CHARACTER/*.png, or those
// of images_evaluation, sorted by alphabet, character and name.
//
// Columns: image (bytes: the file), label (int32 scalar: the character,
// numbered over all alphabets). ClassIndex names characters
// ALPHABET/CHARACTER.
//
// Reference: MindSpore 2.10.0's OmniglotDataset has the same rows. torchvision
// 0.29.2's Omniglot has the same rows in the order of the file system.
type Omniglot struct {
	Dir string `json:"dir"` // torchvision's ROOT/omniglot-py
	// Background selects images_background. Default true.
	Background bool `json:"background"`
}

func init() {
	dataset.Register(dataset.Info{Name: "omniglot", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Omniglot: handwritten characters of 50 alphabets"})
}

// New returns a source of the background images.
func New(dir string) *Omniglot { return &Omniglot{dir, true} }

// Validate accepts any parameters.
func (o *Omniglot) Validate() error { return nil }

var format = imagelist.Format{Package: "omniglot", Files: []string{"image"}, Numbers: []string{"label"}}

// Open lists the images.
func (o *Omniglot) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	part := "images_evaluation"
	if o.Background {
		part = "images_background"
	}
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		l.Classes = map[string]int32{}
		alphabets, err := l.Folders(ctx, part)
		if err != nil {
			return err
		}
		for _, a := range alphabets {
			characters, err := l.Folders(ctx, part+"/"+a)
			if err != nil {
				return err
			}
			for _, c := range characters {
				if err := add(ctx, l, part, a+"/"+c); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// add adds the images of a character.
func add(ctx context.Context, l *imagelist.List, part, character string) error {
	n := int32(len(l.Classes))
	l.Classes[character] = n
	folder := part + "/" + character
	names, err := l.FilesIn(ctx, folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".png") {
			if err := l.Add([]string{folder + "/" + name}, n); err != nil {
				return err
			}
		}
	}
	return nil
}
