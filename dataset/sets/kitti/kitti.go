// Package kitti reads the detection set of KITTI: photos of roads with boxes of
// vehicles and people. Columns: image, label, truncated, occluded, alpha, bbox,
// dimensions, location, rotation_y. Reference: MindSpore's KITTIDataset and
// torchvision's Kitti.
package kitti

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Kitti reads the files of training/image_2 with the files of the same names
// and the ending .txt in training/label_2, or those of testing/image_2, sorted
// by name. If Dir has the folder data_object_image_2, image_2 is below this and
// label_2 below data_object_label_2. Open reads all labels into memory.
//
// Columns: image (bytes: the file). Usage train has for the n objects of an
// image: label (int32 (n, 1): the type, numbered among the sorted types of the
// set), truncated (float32 (n, 1)), occluded (int32 (n, 1), -1 if unknown),
// alpha (float32 (n, 1): radians), bbox (float32 (n, 4): left, top, right,
// bottom in pixels), dimensions (float32 (n, 3): height, width, length in
// metres), location (float32 (n, 3): metres), rotation_y (float32 (n, 1):
// radians).
//
// Reference: MindSpore 2.10.0's KITTIDataset has the same rows; label and
// occluded are uint32 there, and files must be numbered from 000000 on.
// torchvision 0.29.2's Kitti has the same values as a list of objects, their
// type as text, and images in the order of the file system.
type Kitti struct {
	// Dir is MindSpore's folder with data_object_image_2, or torchvision's
	// ROOT/Kitti/raw with training and testing.
	Dir string `json:"dir"`
	// Usage is train or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "kitti", Version: 1, New: func() dataset.Node { return New("") }, Doc: "KITTI: photos of roads with boxes of vehicles and people"})
}

// New returns a source of the training images.
func New(dir string) *Kitti { return &Kitti{dir, "train"} }

// Validate checks the usage.
func (o *Kitti) Validate() error { return files.Usage(o.Usage, "train", "test") }

// column is a column of numbers of each object.
type column struct {
	name        string
	first, size int // fields of a line
}

var columns = []column{{"truncated", 1, 1}, {"occluded", 2, 1}, {"alpha", 3, 1}, {"bbox", 4, 4}, {"dimensions", 8, 3}, {"location", 11, 3}, {"rotation_y", 14, 1}}

const (
	fields   = 15
	occluded = 2 // the field that is whole
	maxTypes = 1 << 10
)

func format(usage string) imagelist.Format {
	f := imagelist.Format{Package: "kitti", Files: []string{"image"}}
	if usage == "train" {
		f.More = append(f.More, imagelist.ArrayColumn("label", tensor.Int32, 1))
		for _, c := range columns {
			f.More = append(f.More, imagelist.ArrayColumn(c.name, kind(c), c.size))
		}
	}
	return f
}

func kind(c column) tensor.DType {
	if c.first == occluded {
		return tensor.Int32
	}
	return tensor.Float32
}

// Open lists the images and reads the labels.
func (o *Kitti) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	classes := map[string]int32{}
	l, err := format(o.Usage).Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		top, err := l.Folders(ctx, "")
		if err != nil {
			return err
		}
		images, labels := "", ""
		if slices.Contains(top, "data_object_image_2") {
			images, labels = "data_object_image_2/", "data_object_label_2/"
		}
		if o.Usage == "test" {
			return o.list(ctx, l, images+"testing/image_2", nil)
		}
		labels += "training/label_2/"
		var all []objects
		if err := o.list(ctx, l, images+"training/image_2", func(path, name string) error {
			id, _, _ := strings.Cut(name, ".")
			b := objects{path: path}
			if err := l.Lines(ctx, labels+id+".txt", func(line string) error { return b.add(line, classes) }); err != nil {
				return err
			}
			all = append(all, b)
			return nil
		}); err != nil {
			return err
		}
		for i, t := range slices.Sorted(maps.Keys(classes)) {
			classes[t] = int32(i)
		}
		for _, b := range all {
			more, err := b.tensors(classes)
			if err != nil {
				return err
			}
			if err := l.AddMore([]string{b.path}, more); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d, err := imagelist.Data(l, nil)
	if err != nil || o.Usage == "test" {
		return d, err
	}
	return &named{d.(rows), classes}, nil
}

// rows is what imagelist opens.
type rows interface {
	dataset.Keyed
	dataset.Stamped
}

// named has names of types.
type named struct {
	rows
	classes map[string]int32
}

// ClassIndex returns the numbers of the types.
func (n *named) ClassIndex() map[string]int32 { return n.classes }

// list calls each, or adds a row, for each file of a folder.
func (o *Kitti) list(ctx context.Context, l *imagelist.List, folder string, each func(path, name string) error) error {
	names, err := l.FilesIn(ctx, folder)
	if err != nil {
		return err
	}
	for _, n := range names {
		path := folder + "/" + n
		if each == nil {
			err = l.Add([]string{path})
		} else {
			err = each(path, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// objects are those of an image.
type objects struct {
	path   string
	types  []string
	values [][fields]float32
}

// add reads a line: the type of an object and fourteen numbers. Detections have
// a score behind, which both references ignore.
func (b *objects) add(line string, classes map[string]int32) error {
	e := strings.Fields(line)
	if len(e) < fields {
		return fmt.Errorf("%d fields, want a type and %d numbers", len(e), fields-1)
	}
	if len(b.types) == imagelist.MaxMore/fields {
		return fmt.Errorf("more than %d objects", imagelist.MaxMore/fields)
	}
	var v [fields]float32
	for i := 1; i < fields; i++ {
		f, err := strconv.ParseFloat(e[i], 32)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("field %d is %.80q, want a finite number", i+1, e[i])
		}
		if i == occluded && (f != math.Trunc(f) || f < -1 || f > math.MaxInt16) {
			return fmt.Errorf("occluded %.80q, want a whole number from -1", e[i])
		}
		v[i] = float32(f)
	}
	if _, ok := classes[e[0]]; !ok {
		if len(classes) == maxTypes {
			return fmt.Errorf("type %.80q, want at most %d types", e[0], maxTypes)
		}
		classes[strings.Clone(e[0])] = 0
	}
	b.types = append(b.types, strings.Clone(e[0]))
	b.values = append(b.values, v)
	return nil
}

// tensors returns the values of the columns after the image.
func (b *objects) tensors(classes map[string]int32) ([]tensor.Tensor, error) {
	var labels []int32
	for _, t := range b.types {
		labels = append(labels, classes[t])
	}
	t, err := imagelist.Array(labels, 1)
	if err != nil {
		return nil, err
	}
	more := []tensor.Tensor{t}
	for _, c := range columns {
		var v []float32
		var whole []int32
		for i := range b.values {
			v = append(v, b.values[i][c.first:c.first+c.size]...)
			whole = append(whole, int32(b.values[i][c.first]))
		}
		if c.first == occluded {
			t, err = imagelist.Array(whole, 1)
		} else {
			t, err = imagelist.Array(v, c.size)
		}
		if err != nil {
			return nil, err
		}
		more = append(more, t)
	}
	return more, nil
}
