// Package voc is the dataset of a folder in the format of the PASCAL VOC challenges.
package voc

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Task says what a sample has beside the image.
type Task string

// The tasks. Both have the column image (bytes: the file JPEGImages/ID.jpg).
const (
	// Detection has, for the image's n objects in the order of Annotations/ID.xml,
	// bbox (float32, n x 4: xmin, ymin, width and height in pixels, where the first pixel
	// is 1 and width is xmax - xmin), label, difficult and truncate (int32, n x 1).
	// Images are listed by ImageSets/Main.
	Detection Task = "detection"
	// Segmentation has target (bytes: the file SegmentationClass/ID.png). Images are
	// listed by ImageSets/Segmentation.
	Segmentation Task = "segmentation"
)

// VOC is a folder such as VOCdevkit/VOC2012, with images in the order of one of its lists.
// For detection all annotations are read when it is opened, 28 bytes of
// memory an object; objects without a name are left out, and those of classes that
// ClassIndexing does not name, and images without others. Classes are numbered from 0 in the order of their
// names, byte by byte, of those that the listed images have.
//
// Reference: MindSpore 2.10.0's VOCDataset: the same images, order, values and
// shapes; its uint32 are int32 here. As there, an annotation
// without objects and a box that is empty or begins before 1 are errors, and the
// text of a name is not trimmed. Unlike it, a number must be the whole text of its element, and lists may have
// empty lines. Annotations must be UTF-8, whatever they say. torchvision's VOCDetection has the same images and order, and
// gives the annotation as a tree of texts, trimmed: xmax and ymax, not width and height, and no class numbers.
type VOC struct {
	Dir   string `json:"dir"`
	Task  Task   `json:"task"`  // usually detection
	Usage string `json:"usage"` // the list: train, val, trainval, test or any other name of a file in ImageSets, without .txt
	// ClassIndexing numbers the classes of detection, and leaves out others. Empty: all, in the order of their names.
	ClassIndexing map[string]int32 `json:"class_indexing"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "voc", Version: 1, New: func() dataset.Node { return New("", "") },
		Doc: "a folder in the format of PASCAL VOC: boxes or segmentation masks",
	})
}

// New makes the source for detection.
func New(dir, usage string) *VOC {
	return &VOC{Dir: dir, Task: Detection, Usage: usage, ClassIndexing: map[string]int32{}}
}

// Validate wants one of the tasks, a name for a list, and class numbers for detection alone.
func (o *VOC) Validate() error {
	switch {
	case o.Task != Detection && o.Task != Segmentation:
		return fmt.Errorf("%w: task %q, want detection or segmentation", dataset.ErrParam, o.Task)
	case o.Usage == "" || strings.ContainsAny(o.Usage, `/\`):
		return fmt.Errorf("%w: usage %q, want the name of a list", dataset.ErrParam, o.Usage)
	case o.Task == Segmentation && len(o.ClassIndexing) > 0:
		return fmt.Errorf("%w: class_indexing, which segmentation has no use for", dataset.ErrParam)
	}
	return nil
}

// Open reads the list and, for detection, the annotations.
func (o *VOC) Open(context.Context, store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("voc: %w", err)
	}
	d := &rows{dir: o.Dir, task: o.Task, classes: map[string]int32{}}
	folder := "Main"
	if o.Task == Segmentation {
		folder = "Segmentation"
	}
	list := filepath.Join(o.Dir, "ImageSets", folder, o.Usage+".txt")
	ids, err := readList(list)
	if err != nil {
		return nil, fmt.Errorf("voc: %w", err)
	}
	if d.ids = ids; o.Task == Detection {
		if err := d.annotate(ids, o.ClassIndexing); err != nil {
			return nil, fmt.Errorf("voc: %w", err)
		}
	}
	if len(d.ids) == 0 {
		return nil, fmt.Errorf("voc: %w: no images for %s in %s", dataset.ErrData, o.Task, list)
	}
	return d, nil
}

// readList is the lines of a file.
func readList(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var ids []string
	// Lines of more than 64 KiB are an error.
	s := bufio.NewScanner(f)
	for s.Scan() {
		if s.Text() != "" {
			ids = append(ids, s.Text())
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s after line %d: %w", dataset.ErrData, name, len(ids), err)
	}
	return ids, nil
}

// annotate reads the annotations of images and keeps those that have any.
func (d *rows) annotate(ids []string, index map[string]int32) error {
	d.ids = nil
	d.start = []int{0}
	var names []string // of classes, in the order of their appearance
	number := map[string]int32{}
	for _, id := range ids {
		p := filepath.Join(d.dir, "Annotations", id+".xml")
		objects, err := readAnnotation(p)
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

func (d *rows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := files.Index(i, d.Len()); err != nil {
		return err
	}
	id := d.ids[i]
	s.Key = id
	if err := files.Read(&s.Values[0], d.dir, "JPEGImages/"+id+".jpg"); err != nil {
		return err
	}
	if d.task == Segmentation {
		return files.Read(&s.Values[1], d.dir, "SegmentationClass/"+id+".png")
	}
	lo, hi := d.start[i], d.start[i+1]
	v := &s.Values[1]
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

// ClassIndex is empty for segmentation, whose classes have no names in the folder.
func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return nil }
