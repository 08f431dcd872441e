package coco

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/jsonstream"
	"github.com/infer-prep/infer-prep/store"
)

// parser collects the content of an annotation file. The file may have its
// lists in any order.
type parser struct {
	*jsonstream.Scanner
	rows *rows

	names      []string // of all images
	images     map[int64]int
	categories map[int64]bool
	lists      map[string]bool // already read

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
			return p.Errorf("%q appears twice", name)
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

// member is a key of an object and the function that reads its value.
type member struct {
	name string
	read func() error
}

// readAs returns a function that stores a value in to.
func readAs[T any](to *T, read func() (T, error)) func() error {
	return func() (err error) {
		*to, err = read()
		return err
	}
}

// object reads an object with the given members, each exactly once, and skips
// other keys. Only iscrowd is optional: MindSpore reads its absence as 0 in
// detection.
func (p *parser) object(what string, members ...member) error {
	var seen [8]bool // by member
	err := p.Object(func(key []byte) error {
		for i := range members {
			if string(key) != members[i].name {
				continue
			}
			if seen[i] {
				return p.Errorf("%s: %q appears twice", what, key)
			}
			seen[i] = true
			if err := members[i].read(); err != nil {
				return fmt.Errorf("%w, in %q of %s", err, members[i].name, what)
			}
			return nil
		}
		return p.Skip()
	})
	if err != nil {
		return err
	}
	for i, m := range members {
		if !seen[i] && m.name != "iscrowd" {
			return p.Errorf("%s without %q", what, m.name)
		}
	}
	return nil
}

func (p *parser) image() error {
	var id int64
	var name string
	if err := p.object("an image", member{"id", readAs(&id, p.Int)}, member{"file_name", readAs(&name, p.String)}); err != nil {
		return err
	}
	if _, ok := p.images[id]; ok {
		return p.Errorf("image id %d appears twice", id)
	}
	p.images[id] = len(p.names)
	p.names = append(p.names, name)
	return nil
}

func (p *parser) category() error {
	var id int64
	var name string
	if err := p.object("a category", member{"id", readAs(&id, p.Int)}, member{"name", readAs(&name, p.String)}); err != nil {
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
	var image int64
	id := member{"image_id", readAs(&image, p.Int)}
	vectors, items := len(p.vectorImage), len(p.itemImage)
	var err error
	switch p.rows.task {
	case Panoptic:
		err = p.object("an annotation", id, member{"segments_info", func() error {
			return p.Array(func() error { return p.box("a segment") })
		}})
	case Keypoints:
		err = p.keypoints(id)
	case Segmentation:
		err = p.segmentation(id)
	case Captioning:
		err = p.caption(id)
	default:
		err = p.box("an annotation", id)
	}
	if err != nil {
		return err
	}
	// The image may be listed later.
	if _, ok := p.firstUse[image]; !ok {
		p.firstUse[image] = p.Offset()
	}
	for i := vectors; i < len(p.vectorImage); i++ {
		p.vectorImage[i] = image
	}
	for i := items; i < len(p.itemImage); i++ {
		p.itemImage[i] = image
	}
	return nil
}

// item ends an annotation with integers. annotation sets its image.
func (p *parser) item(v ...int64) {
	p.itemImage = append(p.itemImage, 0)
	for i, x := range v {
		p.rows.ints[i] = append(p.rows.ints[i], x)
	}
}

// endVector ends a vector. annotation sets its image.
func (p *parser) endVector() {
	p.rows.ends = append(p.rows.ends, len(p.rows.numbers))
	p.vectorImage = append(p.vectorImage, 0)
}

// vector reads an array of numbers.
func (p *parser) vector() error {
	return p.Array(func() error {
		f, err := p.Float32()
		p.rows.numbers = append(p.rows.numbers, f)
		return err
	})
}

// box reads an annotation or a segment with a box. more are members that only
// one of them has.
func (p *parser) box(what string, more ...member) error {
	var category, crowd, area int64
	members := append(more, member{"category_id", readAs(&category, p.Int)}, member{"iscrowd", readAs(&crowd, p.flag)}, member{"bbox", p.bbox})
	if p.rows.task == Panoptic {
		members = append(members, member{"area", readAs(&area, p.area)})
	}
	if err := p.object(what, members...); err != nil {
		return err
	}
	p.endVector()
	p.item([]int64{category, crowd, area}[:len(kinds[p.rows.task].items)]...)
	return nil
}

// breaks replaces line breaks by spaces, since newlines separate captions.
var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

func (p *parser) caption(id member) error {
	var text string
	if err := p.object("an annotation", id, member{"caption", readAs(&text, p.String)}); err != nil {
		return err
	}
	p.rows.captions = append(p.rows.captions, breaks.Replace(text))
	p.endVector()
	return nil
}

func (p *parser) bbox() error {
	before := len(p.rows.numbers)
	if err := p.vector(); err != nil {
		return err
	}
	if n := len(p.rows.numbers) - before; n != 4 {
		return p.Errorf("a bbox of %d numbers, want 4", n)
	}
	return nil
}

// area reads an area and drops its fraction.
func (p *parser) area() (int64, error) {
	f, err := p.Float64()
	if err == nil && !(math.Abs(f) < 1<<53) {
		err = p.Errorf("area %g, want less than 2^53", f)
	}
	return int64(f), err
}

// flag reads an iscrowd, which some files have as a boolean.
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

func (p *parser) keypoints(id member) error {
	var n int64
	if err := p.object("an annotation", id, member{"num_keypoints", readAs(&n, p.Int)}, member{"keypoints", p.vector}); err != nil {
		return err
	}
	p.endVector()
	p.item(n)
	return nil
}

func (p *parser) segmentation(id member) error {
	var crowd int64
	rle := false
	err := p.object("an annotation", id, member{"iscrowd", readAs(&crowd, p.flag)}, member{"segmentation", func() error {
		c, err := p.Kind()
		if err != nil {
			return err
		}
		if rle = c == '{'; rle {
			return p.counts()
		}
		return p.Array(func() error {
			err := p.vector()
			p.endVector()
			return err
		})
	}})
	switch {
	case err != nil:
		return err
	case crowd != 0 && crowd != 1:
		return p.Errorf("iscrowd %d, want 0 or 1", crowd)
	case crowd == 1 && !rle:
		return p.Errorf("iscrowd 1 with polygons, want a run-length encoding")
	}
	p.item(crowd)
	return nil
}

// counts reads a run-length encoding.
func (p *parser) counts() error {
	err := p.object("a segmentation", member{"counts", func() error {
		c, err := p.Kind()
		if err != nil {
			return err
		}
		if c != '"' {
			return p.vector()
		}
		b, err := p.Bytes()
		if err != nil {
			return err
		}
		return p.compressed(b)
	}})
	p.endVector()
	return err
}

// compressed decodes the COCO API's string form of run lengths. A character has
// five bits, low bits first, and 32 if more follow; the last one has a sign.
// From the fourth number on, numbers are differences from the one two before.
func (p *parser) compressed(b []byte) error {
	var before [2]int64
	for n := 0; len(b) > 0; n++ {
		var x int64
		for k := 0; ; k += 5 {
			if len(b) == 0 {
				return p.Errorf("counts end within a number, want a run-length encoding")
			}
			c := int64(b[0]) - 48
			b = b[1:]
			// 35 bits hold every count of an image.
			if c < 0 || c > 63 || k > 30 {
				return p.Errorf("invalid counts, want a run-length encoding")
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
			return p.Errorf("count %d is %d, want 0 to 2^32-1", n, x)
		}
		p.rows.numbers = append(p.rows.numbers, float32(x))
	}
	return nil
}

// finish groups everything by the images that have annotations.
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
		return nil, fmt.Errorf("%w: before offset %d: image_id %d, want one of the images", dataset.ErrData, first, unlisted)
	}
	if d.task == Detection || d.task == Panoptic {
		for _, c := range d.ints[0] {
			if !p.categories[c] {
				return nil, fmt.Errorf("%w: category_id %d, want one of the categories", dataset.ErrData, c)
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
	// Drop the items of images without any polygon.
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
		if d.task == Captioning {
			if n := d.textLen(v); n > files.Limit {
				return nil, fmt.Errorf("%w: image %s: captions of %d bytes, want at most %d", dataset.ErrData, store.Redact(d.names[i]), n, files.Limit)
			}
			continue
		}
		if size := 4 * int64(len(v)) * int64(d.width(v)); size > files.Limit {
			return nil, fmt.Errorf("%w: image %s: %d x %d numbers, want at most %d bytes", dataset.ErrData, store.Redact(d.names[i]), len(v), d.width(v), files.Limit)
		}
	}
	return d, nil
}
