// Package gtsrb reads the German Traffic Sign Recognition Benchmark: photos of
// 43 traffic signs. Columns: image, label. Reference: torchvision's GTSRB.
package gtsrb

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// GTSRB reads the .ppm files of the class folders of GTSRB/Training, or those
// of GTSRB/Final_Test/Images that GT-final_test.csv lists, in its order. The
// list's columns are separated by semicolons; Filename and ClassId are read.
//
// Columns: image (bytes: the file), label (int32 scalar: the class from 0 to
// 42).
//
// Reference: torchvision 0.29.2's GTSRB has the same images, order and labels.
// It accepts any ClassId.
type GTSRB struct {
	// Dir is the folder with GTSRB and GT-final_test.csv: torchvision's
	// ROOT/gtsrb.
	Dir string `json:"dir"`
	// Usage is train or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "gtsrb", Version: 1, New: func() dataset.Node { return New("") }, Doc: "GTSRB: photos of 43 German traffic signs"})
}

// New returns a source of the training images.
func New(dir string) *GTSRB { return &GTSRB{dir, "train"} }

// Validate checks the usage.
func (o *GTSRB) Validate() error { return files.Usage(o.Usage, "train", "test") }

const classes = 43

var format = imagelist.Format{Package: "gtsrb", Files: []string{"image"}, Numbers: []string{"label"}}

// Open lists the training images, or reads the list of the test images.
func (o *GTSRB) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	if o.Usage == "train" {
		f := imagefolder.New(store.Join(o.Dir, "GTSRB/Training"))
		f.Extensions = []string{".ppm"}
		d, err := f.Open(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("gtsrb: %w", err)
		}
		return d, nil
	}
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		file, class, fields := -1, -1, 0
		return l.Lines(ctx, "GT-final_test.csv", func(line string) error {
			r := csv.NewReader(strings.NewReader(line))
			r.Comma, r.TrimLeadingSpace = ';', true
			e, err := r.Read()
			var syntax *csv.ParseError
			switch {
			case errors.As(err, &syntax):
				return syntax.Err
			case err != nil:
				return err
			case fields == 0:
				file, class, fields = slices.Index(e, "Filename"), slices.Index(e, "ClassId"), len(e)
				if file < 0 || class < 0 {
					return fmt.Errorf("columns %q, want Filename and ClassId among them", e)
				}
				return nil
			case len(e) != fields:
				return fmt.Errorf("%d fields, want %d", len(e), fields)
			}
			n, err := imagelist.Int(e[class], "ClassId", classes)
			if err != nil {
				return err
			}
			return l.Add([]string{"GTSRB/Final_Test/Images/" + e[file]}, n)
		})
	}))
}
