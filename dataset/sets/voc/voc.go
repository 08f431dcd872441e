// Package voc reads a folder in the format of the PASCAL VOC challenges.
// Columns: image, and boxes or a segmentation mask. Reference: MindSpore's
// VOCDataset and torchvision's VOCDetection and VOCSegmentation.
package voc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Task selects the columns beside the image.
type Task string

// The tasks. Both have the column image (bytes: the file JPEGImages/ID.jpg).
const (
	// Detection has bbox, label, difficult and truncate. They have the image's
	// n objects in the order of Annotations/ID.xml. bbox is float32, n x 4:
	// xmin, ymin, width and height in pixels, where the first pixel is 1 and
	// width is xmax - xmin. The others are int32, n x 1. ImageSets/Main has the
	// lists of images.
	Detection Task = "detection"
	// Segmentation has target (bytes: the file SegmentationClass/ID.png).
	// ImageSets/Segmentation has the lists of images.
	Segmentation Task = "segmentation"
)

// VOC reads a folder such as VOCdevkit/VOC2012. Images have the order of one of
// its lists. For detection, Open reads all annotations and keeps 28 bytes per
// object. It ignores objects without a name, objects of classes that
// ClassIndexing does not list, and images without any other object. Classes are
// those of the listed images, numbered from 0 in the byte order of their names.
//
// An id that leads out of the folder is an error; store.AllowOutside permits
// it.
//
// Reference: MindSpore 2.10.0's VOCDataset has the same images, order, values
// and shapes; its uint32 are int32 here. In both, an annotation without objects
// and a box that is empty or starts before 1 are errors, and names keep their
// spaces. Here a number must be the whole text of its element, and lists may
// have empty lines. Annotations must be UTF-8, even if they declare another
// encoding. torchvision's VOCDetection has the same images and order. It
// returns the annotation as a tree of trimmed texts, with xmax and ymax and
// without class numbers.
type VOC struct {
	Dir   string `json:"dir"`
	Task  Task   `json:"task"`  // default detection
	Usage string `json:"usage"` // name of the list: train, val, trainval, test or another file in ImageSets, without .txt
	// ClassIndexing numbers the classes of detection; other classes are
	// ignored. Default: all classes, in the order of their names.
	ClassIndexing map[string]int32 `json:"class_indexing"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "voc", Version: 1, New: func() dataset.Node { return New("", "") },
		Doc: "a folder in the format of PASCAL VOC: boxes or segmentation masks",
	})
}

// New returns a source for detection.
func New(dir, usage string) *VOC {
	return &VOC{Dir: dir, Task: Detection, Usage: usage, ClassIndexing: map[string]int32{}}
}

// Validate requires a known task and the name of a list. It allows
// ClassIndexing for detection only.
func (o *VOC) Validate() error {
	switch {
	case o.Task != Detection && o.Task != Segmentation:
		return fmt.Errorf("%w: task %q, want detection or segmentation", dataset.ErrParam, o.Task)
	case o.Usage == "" || strings.ContainsAny(o.Usage, `/\`):
		return fmt.Errorf("%w: usage %q, want the name of a list", dataset.ErrParam, o.Usage)
	case o.Task == Segmentation && len(o.ClassIndexing) > 0:
		return fmt.Errorf("%w: class_indexing, want none for segmentation", dataset.ErrParam)
	}
	return nil
}

// Open reads the list and, for detection, the annotations.
func (o *VOC) Open(ctx context.Context, s store.Opener) (_ dataset.Data, err error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("voc: %w", err)
	}
	d := &rows{dir: o.Dir, task: o.Task, classes: map[string]int32{}}
	if d.folder, err = files.OpenFolder(ctx, s, o.Dir); err != nil {
		return nil, fmt.Errorf("voc: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.folder.Close())
		}
	}()
	folder := "Main"
	if o.Task == Segmentation {
		folder = "Segmentation"
	}
	list := store.Join(o.Dir, "ImageSets/"+folder+"/"+o.Usage+".txt")
	lists := &files.Lists{}
	ids, err := readList(ctx, lists, d.folder, list)
	if err != nil {
		return nil, fmt.Errorf("voc: %w", err)
	}
	if d.ids = ids; o.Task == Detection {
		if err := d.annotate(ctx, lists, ids, o.ClassIndexing); err != nil {
			return nil, fmt.Errorf("voc: %w", err)
		}
	}
	if len(d.ids) == 0 {
		return nil, fmt.Errorf("voc: %w: no images for %s in %s", dataset.ErrData, o.Task, list)
	}
	return d, nil
}

// readList returns the lines of a file.
func readList(ctx context.Context, lists *files.Lists, o store.Opener, name string) (_ []string, err error) {
	f, err := lists.Open(ctx, o, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var ids []string
	// The scanner refuses lines of more than 64 KiB.
	s := bufio.NewScanner(f)
	for s.Scan() {
		if s.Text() != "" {
			ids = append(ids, s.Text())
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s after line %d: %w", dataset.ErrData, store.Redact(name), len(ids), err)
	}
	return ids, nil
}

// annotate reads the annotations of images and keeps the images that have any.
func (d *rows) annotate(ctx context.Context, lists *files.Lists, ids []string, index map[string]int32) error {
	d.ids = nil
	d.start = []int{0}
	var names []string // of classes, in the order of their appearance
	number := map[string]int32{}
	for _, id := range ids {
		p := store.Join(d.dir, "Annotations/"+id+".xml")
		objects, err := readAnnotation(ctx, lists, d.folder, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, o := range objects {
			label, ok := index[o.name]
			switch {
			case o.name == "" || !ok && len(index) > 0:
				continue
			case !ok:
				if label, ok = number[o.name]; !ok {
					label = int32(len(names))
					number[o.name] = label
					names = append(names, o.name)
				}
			}
			d.boxes = append(d.boxes, o.box[0], o.box[1], o.box[2]-o.box[0], o.box[3]-o.box[1])
			d.ints[0] = append(d.ints[0], label)
			d.ints[1] = append(d.ints[1], o.difficult)
			d.ints[2] = append(d.ints[2], o.truncated)
		}
		if n := len(d.ints[0]); n > d.start[len(d.ids)] {
			d.ids = append(d.ids, id)
			d.start = append(d.start, n)
		}
	}
	if len(index) > 0 {
		d.classes = index
		return nil
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, n := range sorted {
		d.classes[n] = int32(i)
	}
	for i, l := range d.ints[0] {
		d.ints[0][i] = d.classes[names[l]]
	}
	return nil
}

type rows struct {
	folder  store.Folder
	dir     string
	task    Task
	ids     []string
	classes map[string]int32

	start []int // of each image's objects
	boxes []float32
	ints  [3][]int32
}

func (d *rows) Columns() []dataset.Column {
	c := []dataset.Column{{Name: "image", Desc: tensor.Encoded()}}
	if d.task == Segmentation {
		return append(c, dataset.Column{Name: "target", Desc: tensor.Encoded()})
	}
	c = append(c, dataset.Column{Name: "bbox", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, 4)}})
	for _, n := range []string{"label", "difficult", "truncate"} {
		c = append(c, dataset.Column{Name: n, Desc: tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown, 1)}})
	}
	return c
}

func (d *rows) Len() int64 { return int64(len(d.ids)) }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return err
	}
	id := d.ids[i]
	s.Key = id
	if err := files.Read(ctx, d.folder, s.Column("image"), d.image(id)); err != nil {
		return err
	}
	if d.task == Segmentation {
		return files.Read(ctx, d.folder, s.Column("target"), d.mask(id))
	}
	lo, hi := d.start[i], d.start[i+1]
	v := s.Column("bbox")
	if err := v.Reset(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(hi-lo, 4)}); err != nil {
		return err
	}
	copy(tensor.View[float32](&v.Tensor), d.boxes[4*lo:4*hi])
	for k, c := range d.ints {
		v := &s.Values[2+k]
		if err := v.Reset(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(hi-lo, 1)}); err != nil {
			return err
		}
		copy(tensor.View[int32](&v.Tensor), c[lo:hi])
	}
	return nil
}

// Keys yields the ids of the images.
func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.ids, yield) }

func (d *rows) image(id string) string { return store.Join(d.dir, "JPEGImages/"+id+".jpg") }

func (d *rows) mask(id string) string { return store.Join(d.dir, "SegmentationClass/"+id+".png") }

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) (_ []byte, err error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, err
	}
	if b, err = files.Stamp(ctx, d.folder, b, d.image(d.ids[i])); err != nil || d.task != Segmentation {
		return b, err
	}
	return files.Stamp(ctx, d.folder, b, d.mask(d.ids[i]))
}

// ClassIndex is empty for segmentation: the folder does not name its classes.
func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return d.folder.Close() }
