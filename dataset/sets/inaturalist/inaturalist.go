// Package inaturalist reads the datasets iNaturalist 2017 to 2021: photos of
// species. Columns: image, label. Reference: torchvision's INaturalist.
package inaturalist

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// INaturalist reads the files of class folders. The folders of 2021 are
// NUMBER_KINGDOM_PHYLUM_CLASS_ORDER_FAMILY_GENUS_SPECIES, and their numbers
// count from 0. Those of the years before are SUPER/SPECIES; in 2018 and 2019
// SPECIES is a number. Rows have the order of the classes of target full, and
// within a class that of the names.
//
// Columns: image (bytes: the file), label (int32 scalar: the class of Target).
// The classes of full are folders. Those of the other targets are numbered in
// the order in which they appear in the sorted folders.
//
// Reference: torchvision 0.29.2's INaturalist has the same images, labels and
// classes. Its order within a class is that of the file system, and it can
// return several targets at once.
type INaturalist struct {
	Dir string `json:"dir"` // the folder of the version: torchvision's ROOT/VERSION
	// Version is 2017, 2018, 2019, 2021_train, 2021_train_mini or 2021_valid.
	// Default 2021_train.
	Version string `json:"version"`
	// Target is full or super; for 2021 full, kingdom, phylum, class, order,
	// family or genus. Default full.
	Target string `json:"target"`
}

func init() {
	dataset.Register(dataset.Info{Name: "inaturalist", Version: 1, New: func() dataset.Node { return New("") }, Doc: "iNaturalist 2017 to 2021: photos of species"})
}

// New returns a source of the training images of 2021 with their species.
func New(dir string) *INaturalist { return &INaturalist{dir, "2021_train", "full"} }

var (
	versions = []string{"2017", "2018", "2019", "2021_train", "2021_train_mini", "2021_valid"}
	ranks    = []string{"kingdom", "phylum", "class", "order", "family", "genus"}
)

func (o *INaturalist) is2021() bool { return strings.HasPrefix(o.Version, "2021") }

// Validate checks the version and its target.
func (o *INaturalist) Validate() error {
	if !slices.Contains(versions, o.Version) {
		return fmt.Errorf("%w: version %q, want one of %s", dataset.ErrParam, o.Version, strings.Join(versions, ", "))
	}
	targets := []string{"full", "super"}
	if o.is2021() {
		targets = append([]string{"full"}, ranks...)
	}
	if !slices.Contains(targets, o.Target) {
		return fmt.Errorf("%w: target %q of version %s, want one of %s", dataset.ErrParam, o.Target, o.Version, strings.Join(targets, ", "))
	}
	return nil
}

var format = imagelist.Format{Package: "inaturalist", Files: []string{"image"}, Numbers: []string{"label"}}

// category is a class folder and the name of its class of the target.
type category struct{ folder, class string }

// Open lists the files.
func (o *INaturalist) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		list := o.list
		if o.is2021() {
			list = o.list2021
		}
		categories, err := list(ctx, l)
		if err != nil {
			return err
		}
		for full, c := range categories {
			label := l.Classes[c.class]
			if o.Target == "full" {
				label = int32(full)
			}
			names, err := l.FilesIn(ctx, c.folder)
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := l.Add([]string{c.folder + "/" + name}, label); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// list2021 lists the folders of 2021 and numbers the classes of the target.
func (o *INaturalist) list2021(ctx context.Context, l *imagelist.List) (all []category, err error) {
	folders, err := l.Folders(ctx, "")
	if err != nil {
		return nil, err
	}
	l.Classes = map[string]int32{}
	for i, f := range folders {
		pieces := strings.Split(f, "_")
		if len(pieces) != 2+len(ranks) || pieces[0] != fmt.Sprintf("%05d", i) {
			return nil, fmt.Errorf("%w: folder %q of %s, want %05d_KINGDOM_PHYLUM_CLASS_ORDER_FAMILY_GENUS_SPECIES", dataset.ErrData, f, store.Redact(l.Dir), i)
		}
		class := f
		if o.Target != "full" {
			class = pieces[1+slices.Index(ranks, o.Target)]
		}
		if _, ok := l.Classes[class]; !ok {
			l.Classes[class] = int32(len(l.Classes))
		}
		all = append(all, category{f, class})
	}
	return all, nil
}

// list lists the folders of the years before 2021, by the number of the
// species, and numbers the classes of the target.
func (o *INaturalist) list(ctx context.Context, l *imagelist.List) (all []category, err error) {
	supers, err := l.Folders(ctx, "")
	if err != nil {
		return nil, err
	}
	l.Classes = map[string]int32{}
	byNumber := map[int32]category{}
	for _, super := range supers {
		species, err := l.Folders(ctx, super)
		if err != nil {
			return nil, err
		}
		for _, name := range species {
			n := int32(len(byNumber))
			if o.Version != "2017" {
				if n, err = imagelist.Int(name, "folder", imagelist.MaxRows); err != nil {
					return nil, fmt.Errorf("%w: %s: %w", dataset.ErrData, store.Redact(store.Join(l.Dir, super)), err)
				}
			}
			if c, ok := byNumber[n]; ok {
				return nil, fmt.Errorf("%w: %s: species %d is both %s and %s/%s", dataset.ErrData, store.Redact(l.Dir), n, c.folder, super, name)
			}
			byNumber[n] = category{super + "/" + name, super}
		}
		if o.Target == "super" {
			l.Classes[super] = int32(len(l.Classes))
		}
	}
	for n := range int32(len(byNumber)) {
		c, ok := byNumber[n]
		if !ok {
			return nil, fmt.Errorf("%w: %s: no species %d, want 0 to %d", dataset.ErrData, store.Redact(l.Dir), n, len(byNumber)-1)
		}
		if o.Target == "full" {
			c.class = c.folder
			l.Classes[c.class] = n
		}
		all = append(all, c)
	}
	return all, nil
}
