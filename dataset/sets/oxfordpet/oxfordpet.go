// Package oxfordpet reads the Oxford-IIIT Pet Dataset: photos of 37 breeds of
// cats and dogs, with masks. Columns: image, and label, species and
// segmentation as wanted. Reference: torchvision's OxfordIIITPet.
package oxfordpet

import (
	"context"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// OxfordPet reads the images that annotations/trainval.txt or
// annotations/test.txt lists, in its order. A line has the image's id, the
// number of its breed, that of its species (1 cat, 2 dog) and another number.
// The image is images/ID.jpg.
//
// Columns: image (bytes: the file), segmentation (bytes: the file
// annotations/trimaps/ID.png), label (int32 scalar: the breed from 0), species
// (int32 scalar: 0 cat, 1 dog). Target selects them.
//
// Reference: torchvision 0.29.2's OxfordIIITPet has the same images, order,
// numbers and names of classes. Its target types are category, binary-category
// and segmentation. It names the classes of a list by position; here names have
// the numbers that the list gives them, which differs if the list lacks a
// breed.
type OxfordPet struct {
	Dir string `json:"dir"` // torchvision's ROOT/oxford-iiit-pet
	// Usage is trainval or test. Default trainval.
	Usage string `json:"usage"`
	// Target selects the columns beside image: category for label; binary for
	// label, which is the species; segmentation for segmentation; all for
	// segmentation, label and species. Default category.
	Target string `json:"target"`
}

func init() {
	dataset.Register(dataset.Info{Name: "oxford_pet", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Oxford-IIIT Pet: photos of 37 breeds of cats and dogs, with masks if wanted"})
}

// New returns a source of the images for training and validation with their
// breeds.
func New(dir string) *OxfordPet { return &OxfordPet{dir, "trainval", "category"} }

var formats = map[string]imagelist.Format{
	"category":     {Files: []string{"image"}, Numbers: []string{"label"}},
	"binary":       {Files: []string{"image"}, Numbers: []string{"label"}},
	"segmentation": {Files: []string{"image", "segmentation"}, NoLabel: true},
	"all":          {Files: []string{"image", "segmentation"}, Numbers: []string{"label", "species"}},
}

// Validate checks the usage and the target.
func (o *OxfordPet) Validate() error {
	if _, ok := formats[o.Target]; !ok {
		return fmt.Errorf("%w: target %q, want category, binary, segmentation or all", dataset.ErrParam, o.Target)
	}
	return files.Usage(o.Usage, "trainval", "test")
}

// maxBreeds exceeds the number of breeds, 37.
const maxBreeds = 1 << 16

// Open reads the list.
func (o *OxfordPet) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	f := formats[o.Target]
	f.Package = "oxfordpet"
	return imagelist.Data(f.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		l.Classes = map[string]int32{}
		if o.Target == "binary" {
			l.Classes = map[string]int32{"Cat": 0, "Dog": 1}
		}
		return l.Lines(ctx, "annotations/"+o.Usage+".txt", func(line string) error {
			e := strings.Fields(line)
			if len(e) != 4 {
				return fmt.Errorf("%d fields, want ID, breed, species and another number", len(e))
			}
			breed, err := imagelist.Int(e[1], "breed", maxBreeds)
			if err != nil || breed == 0 {
				return fmt.Errorf("breed %.80q, want 1 to %d", e[1], maxBreeds-1)
			}
			species, err := imagelist.Int(e[2], "species", 3)
			if err != nil || species == 0 {
				return fmt.Errorf("species %.80q, want 1 or 2", e[2])
			}
			paths := []string{"images/" + e[0] + ".jpg", "annotations/trimaps/" + e[0] + ".png"}[:len(f.Files)]
			numbers := []int32{breed - 1, species - 1}
			if o.Target == "binary" {
				return l.Add(paths, species-1)
			}
			name := title(e[0])
			if n, ok := l.Classes[name]; ok && n != breed-1 {
				return fmt.Errorf("breed %d of %s, want %d as above", breed, name, n+1)
			}
			l.Classes[name] = breed - 1
			if o.Target != "all" {
				numbers = numbers[:1]
			}
			return l.Add(paths, numbers...)
		})
	}))
}

// title returns the name of the breed of an id: american_bulldog_10 is American
// Bulldog.
func title(id string) string {
	if i := strings.LastIndexByte(id, '_'); i >= 0 {
		id = id[:i]
	}
	e := strings.Split(id, "_")
	for i, w := range e {
		if w != "" {
			e[i] = strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
		}
	}
	return strings.Join(e, " ")
}
