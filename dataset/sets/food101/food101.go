// Package food101 reads the dataset Food-101: photos of 101 dishes. Columns:
// image, label. Reference: torchvision's Food101 and MindSpore's
// Food101Dataset.
package food101

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/jsonstream"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Food101 reads the images that the lists in meta name. The image of the entry
// CLASS/ID is images/CLASS/ID.jpg.
//
// Columns: image (bytes: the file), label (int32 scalar: the class).
//
// Reference: torchvision 0.29.2's Food101 reads the JSON lists, and numbers the
// classes of a list in the order of their names. MindSpore 2.10.0's
// Food101Dataset reads the text lists, whose images are sorted in another
// order; its label is the name of the class. Here the label is the number of
// that name in meta/classes.txt. Both libraries have the same images.
type Food101 struct {
	Dir string `json:"dir"` // torchvision's ROOT/food-101
	// Usage is train, test or all, which is train followed by test. Default
	// train.
	Usage string `json:"usage"`
	// Lists is json for torchvision's lists and order (train.json, test.json),
	// or txt for MindSpore's (train.txt, test.txt, classes.txt). Default json.
	Lists string `json:"lists"`
}

func init() {
	dataset.Register(dataset.Info{Name: "food101", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Food-101: photos of 101 dishes"})
}

// New returns a source of the training images with torchvision's lists.
func New(dir string) *Food101 { return &Food101{dir, "train", "json"} }

// Validate checks the usage and the kind of lists.
func (o *Food101) Validate() error {
	if o.Lists != "json" && o.Lists != "txt" {
		return fmt.Errorf("%w: lists %q, want json or txt", dataset.ErrParam, o.Lists)
	}
	return files.Usage(o.Usage, "train", "test", "all")
}

var format = imagelist.Format{Package: "food101", Files: []string{"image"}, Numbers: []string{"label"}}

// Open reads the lists.
func (o *Food101) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		usages := []string{o.Usage}
		if o.Usage == "all" {
			usages = []string{"train", "test"}
		}
		if o.Lists == "txt" {
			return texts(ctx, l, usages)
		}
		return lists(ctx, l, usages)
	}))
}

// texts reads lists of lines CLASS/ID.
func texts(ctx context.Context, l *imagelist.List, usages []string) error {
	if err := l.Names(ctx, "meta/classes.txt", func(s string) string { return s }); err != nil {
		return err
	}
	for _, u := range usages {
		err := l.Lines(ctx, "meta/"+u+".txt", func(line string) error {
			class, _, _ := strings.Cut(line, "/")
			n, ok := l.Classes[class]
			if !ok {
				return fmt.Errorf("%q, want CLASS/ID with a class of classes.txt", line)
			}
			return l.Add([]string{"images/" + line + ".jpg"}, n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lists reads objects that map the names of classes to lists of CLASS/ID. The
// classes get their numbers when all are known.
func lists(ctx context.Context, l *imagelist.List, usages []string) error {
	type entry struct{ path, class string }
	var entries []entry
	l.Classes = map[string]int32{}
	for _, u := range usages {
		seen := map[string]bool{}
		err := l.JSON(ctx, "meta/"+u+".json", func(s *jsonstream.Scanner) error {
			return s.Object(func(key []byte) error {
				class := string(key)
				if seen[class] {
					return s.Errorf("class %q a second time", class)
				}
				seen[class] = true
				l.Classes[class] = 0
				return s.Array(func() error {
					id, err := s.String()
					if err == nil && len(entries) == imagelist.MaxRows {
						err = s.Errorf("more than %d images", imagelist.MaxRows)
					}
					entries = append(entries, entry{"images/" + id + ".jpg", class})
					return err
				})
			})
		})
		if err != nil {
			return err
		}
	}
	l.Classes = imagelist.Number(slices.Sorted(maps.Keys(l.Classes)))
	for _, e := range entries {
		if err := l.Add([]string{e.path}, l.Classes[e.class]); err != nil {
			return err
		}
	}
	return nil
}
