package coco

import (
	"fmt"
	"io"
	"math"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/jsonstream"
)

// parser collects what the file says, in its order, whatever the order of its lists.
type parser struct {
	*jsonstream.Scanner
	rows *rows

	names      []string // of all images
	images     map[int64]int
	categories map[int64]bool
	lists      map[string]bool // that were read

	vectorImage, itemImage []int64 // image ids
	firstUse               map[int64]int64
}

// parse reads an annotation file.
func parse(r io.Reader, task Task) (*rows, error) {
	p := &parser{
		Scanner: jsonstream.New(r), rows: &rows{task: task, classes: map[string]int32{}},
		images: map[int64]int{}, categories: map[int64]bool{}, lists: map[string]bool{}, firstUse: map[int64]int64{},
	}
	err := p.Object(func(key []byte) error {
		var element func() error
		switch string(key) {
		case "images":
			element = p.image
		case "categories":
			element = p.category
		case "annotations":
			element = p.annotation
		default:
			return p.Skip()
		}
		name := string(key)
		if p.lists[name] {
			return p.Errorf("%q is there twice", name)
		}
		p.lists[name] = true
		return p.Array(element)
	})
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return nil, err
	}
	return p.finish()
}

// fields reads an object whose keys are wanted once. member reads a value and
// returns true, or returns false for a value to skip.
func (p *parser) fields(what string, need []string, member func(key string) (bool, error)) error {
	var seen [8]bool
	err := p.Object(func(key []byte) error {
		for i, n := range need {
			if string(key) != n {
				continue
			}
			if seen[i] {
				return p.Errorf("%s: %q is there twice", what, n)
			}
			seen[i] = true
			used, err := member(n)
			if err == nil && !used {
				err = p.Skip()
			}
			return err
		}
		return p.Skip()
	})
	if err != nil {
		return err
	}
	for i, n := range need {
		// All but this have no meaning without; MindSpore takes its absence for 0 in detection.
		if !seen[i] && n != "iscrowd" {
			return p.Errorf("%s without %q", what, n)
		}
	}
	return nil
}

func (p *parser) image() error {
	var id int64
	var name string
	err := p.fields("an image", []string{"id", "file_name"}, func(key string) (_ bool, err error) {
		if key == "id" {
			id, err = p.Int()
		} else {
			name, err = p.String()
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if _, ok := p.images[id]; ok {
		return p.Errorf("image id %d is there twice", id)
	}
	p.images[id] = len(p.names)
	p.names = append(p.names, name)
	return nil
}

func (p *parser) category() error {
	var id int64
	var name string
	err := p.fields("a category", []string{"id", "name"}, func(key string) (_ bool, err error) {
		if key == "id" {
			id, err = p.Int()
		} else {
			name, err = p.String()
		}
		return true, err
	})
	if err != nil {
		return err
	}
	p.categories[id] = true
	if int64(int32(id)) == id {
		p.rows.classes[name] = int32(id)
	}
	return nil
}

// annotation reads an element of the list of annotations.
func (p *parser) annotation() error {
	switch p.rows.task {
	case Panoptic:
		return p.panoptic()
	case Keypoints:
		return p.keypoints()
	case Segmentation:
		return p.segmentation()
	}
	return p.box("an annotation", []string{"bbox", "category_id", "iscrowd", "image_id"}, nil)
}

// mark notes that an annotation is of an image, which may be listed later.
func (p *parser) mark(id int64) {
	if _, ok := p.firstUse[id]; !ok {
		p.firstUse[id] = p.Offset()
	}
}

// item ends an annotation with integers.
func (p *parser) item(image int64, v ...int64) {
	p.itemImage = append(p.itemImage, image)
	for i, x := range v {
		p.rows.ints[i] = append(p.rows.ints[i], x)
	}
}

// endVector ends a vector, whose image may be unknown as yet.
func (p *parser) endVector(image int64) {
	p.rows.ends = append(p.rows.ends, len(p.rows.numbers))
	p.vectorImage = append(p.vectorImage, image)
}

// vector reads an array of numbers.
func (p *parser) vector() (n int, err error) {
	before := len(p.rows.numbers)
	err = p.Array(func() error {
		f, err := p.Float32()
		p.rows.numbers = append(p.rows.numbers, f)
		return err
	})
	return len(p.rows.numbers) - before, err
}

// box reads a box of an image that is known, or named by image_id.
func (p *parser) box(what string, need []string, known *int64) error {
	var image, category, area int64
	var crowd int64
	err := p.fields(what, need, func(key string) (_ bool, err error) {
		switch key {
		case "image_id":
			image, err = p.Int()
		case "category_id":
			category, err = p.Int()
		case "iscrowd":
			crowd, err = p.flag()
		case "area":
			var f float64
			if f, err = p.Float64(); err == nil && !(math.Abs(f) < 1<<53) {
				err = p.Errorf("area %g, want less than 2^53", f)
			}
			area = int64(f)
		case "bbox":
			var n int
			if n, err = p.vector(); err == nil && n != 4 {
				err = p.Errorf("a bbox of %d numbers, want 4", n)
			}
		}
		return true, err
	})
	if err != nil {
		return err
	}
	if known != nil {
		image = *known
	} else {
		p.mark(image)
	}
	p.endVector(image)
	p.item(image, []int64{category, crowd, area}[:len(kinds[p.rows.task].items)]...)
	return nil
}

// flag reads an iscrowd, which some write as a boolean.
func (p *parser) flag() (int64, error) {
	c, err := p.Kind()
	if err != nil {
		return 0, err
	}
	if c == 't' || c == 'f' {
		b, err := p.Bool()
		if b {
			return 1, err
		}
		return 0, err
	}
	return p.Int()
}

func (p *parser) panoptic() error {
	var image int64
	first := len(p.vectorImage)
	err := p.fields("an annotation", []string{"image_id", "segments_info"}, func(key string) (_ bool, err error) {
		if key == "image_id" {
			image, err = p.Int()
			return true, err
		}
		unknown := int64(0)
		return true, p.Array(func() error {
			return p.box("a segment", []string{"bbox", "category_id", "iscrowd", "area"}, &unknown)
		})
	})
	if err != nil {
		return err
	}
	p.mark(image)
	for i := first; i < len(p.vectorImage); i++ {
		p.vectorImage[i], p.itemImage[i] = image, image
	}
	return nil
}

func (p *parser) keypoints() error {
	var image, n int64
	err := p.fields("an annotation", []string{"image_id", "num_keypoints", "keypoints"}, func(key string) (_ bool, err error) {
		switch key {
		case "image_id":
			image, err = p.Int()
		case "num_keypoints":
			n, err = p.Int()
		default:
			_, err = p.vector()
		}
		return true, err
	})
	if err != nil {
		return err
	}
	p.mark(image)
	p.endVector(image)
	p.item(image, n)
	return nil
}

func (p *parser) segmentation() error {
	var image, crowd int64
	first := len(p.vectorImage)
	rle := false
	err := p.fields("an annotation", []string{"image_id", "iscrowd", "segmentation"}, func(key string) (_ bool, err error) {
		switch key {
		case "image_id":
			image, err = p.Int()
		case "iscrowd":
			crowd, err = p.flag()
		default:
			var c byte
			if c, err = p.Kind(); err != nil {
				return true, err
			}
			if rle = c == '{'; rle {
				err = p.counts()
			} else {
				err = p.Array(func() error {
					_, err := p.vector()
					p.endVector(0)
					return err
				})
			}
		}
		return true, err
	})
	switch {
	case err != nil:
		return err
	case crowd != 0 && crowd != 1:
		return p.Errorf("iscrowd %d, want 0 or 1", crowd)
	case crowd == 1 && !rle:
		return p.Errorf("iscrowd is 1 and segmentation is not run-length encoded")
	}
	p.mark(image)
	for i := first; i < len(p.vectorImage); i++ {
		p.vectorImage[i] = image
	}
	p.item(image, crowd)
	return nil
}

// counts reads a run-length encoding.
func (p *parser) counts() error {
	err := p.fields("a segmentation", []string{"counts"}, func(string) (bool, error) {
		c, err := p.Kind()
		if err != nil {
			return true, err
		}
		if c != '"' {
			_, err = p.vector()
			return true, err
		}
		b, err := p.Bytes()
		if err == nil {
			err = p.compressed(b)
		}
		return true, err
	})
	p.endVector(0)
	return err
}

// compressed reads the string form of run lengths of the COCO API: five bits a
// character, from the least, with 32 for more to come and a sign in the last;
// from the fourth number on the difference from the one before the last.
func (p *parser) compressed(b []byte) error {
	var before [2]int64
	for n := 0; len(b) > 0; n++ {
		var x int64
		for k := 0; ; k += 5 {
			if len(b) == 0 {
				return p.Errorf("counts end within a number")
			}
			c := int64(b[0]) - 48
			b = b[1:]
			// 35 bits hold every count of an image.
			if c < 0 || c > 63 || k > 30 {
				return p.Errorf("counts are not a run-length encoding")
			}
			x |= c & 31 << k
			if c&32 == 0 {
				if c&16 != 0 {
					x |= -1 << (k + 5)
				}
				break
			}
		}
		if n > 2 {
			x += before[n%2]
		}
		before[n%2] = x
		if x < 0 || x > math.MaxUint32 {
			return p.Errorf("count %d is %d", n, x)
		}
		p.rows.numbers = append(p.rows.numbers, float32(x))
	}
	return nil
}

// finish brings everything into the order of the images that have annotations.
func (p *parser) finish() (*rows, error) {
	d := p.rows
	for _, n := range []string{"images", "annotations"} {
		if !p.lists[n] {
			return nil, p.Errorf("no %q", n)
		}
	}
	first, unlisted := int64(math.MaxInt64), int64(0)
	for id, at := range p.firstUse {
		if _, ok := p.images[id]; !ok && at < first {
			first, unlisted = at, id
		}
	}
	if first < math.MaxInt64 {
		return nil, fmt.Errorf("%w: before offset %d: image_id %d is not among the images", dataset.ErrData, first, unlisted)
	}
	if d.task == Detection || d.task == Panoptic {
		for _, c := range d.ints[0] {
			if !p.categories[c] {
				return nil, fmt.Errorf("%w: category_id %d is not among the categories", dataset.ErrData, c)
			}
		}
	}
	used := make([]bool, len(p.names))
	for _, id := range p.vectorImage {
		used[p.images[id]] = true
	}
	place := make([]int, len(p.names))
	for i, n := range p.names {
		place[i] = -1
		if used[i] {
			place[i] = len(d.names)
			d.names = append(d.names, n)
		}
	}
	if len(d.names) == 0 {
		return nil, fmt.Errorf("%w: no image has annotations for %s", dataset.ErrData, d.task)
	}
	vectors := make([]int, len(p.vectorImage))
	for k, id := range p.vectorImage {
		vectors[k] = place[p.images[id]]
	}
	d.vectors = grouped(vectors, len(d.names))
	// Of an image without any polygon there may be items, which are not among the rows.
	var items []int
	kept := 0
	for k, id := range p.itemImage {
		if i := place[p.images[id]]; i >= 0 {
			for c := range d.ints {
				if k < len(d.ints[c]) {
					d.ints[c][kept] = d.ints[c][k]
				}
			}
			items = append(items, i)
			kept++
		}
	}
	d.items = grouped(items, len(d.names))
	for i := range d.Len() {
		v := d.vectors.of(i)
		if size := 4 * int64(len(v)) * int64(d.width(v)); size > files.Limit {
			return nil, fmt.Errorf("%w: image %s: %d x %d numbers, want at most %d bytes", dataset.ErrData, d.names[i], len(v), d.width(v), files.Limit)
		}
	}
	return d, nil
}
