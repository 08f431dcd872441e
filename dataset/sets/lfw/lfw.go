// Package lfw reads the dataset Labeled Faces in the Wild: people, or pairs of
// photos of one or two people. Columns: image, label; or image1, image2, label.
// Reference: torchvision's LFWPeople and LFWPairs, and MindSpore's LFWDataset.
package lfw

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// LFW reads the lists people.txt, peopleDevTrain.txt and peopleDevTest.txt, or
// pairs.txt, pairsDevTrain.txt and pairsDevTest.txt. Image n of a person is
// FOLDER/PERSON/PERSON_000n.jpg. Lines after those that a list announces are
// ignored.
//
// Columns of people: image (bytes: the file), label (int32 scalar: the line of
// the person in lfw-names.txt, from 0). Columns of pairs: image1, image2
// (bytes), label (int32 scalar: 1 for one person, 0 for two).
//
// Reference: torchvision 0.29.2's LFWPeople and LFWPairs have the same images,
// order and labels, and no usage all. MindSpore 2.10.0's LFWDataset has the
// same rows, and usage all, its default; its labels are uint32.
type LFW struct {
	Dir string `json:"dir"` // folder with the lists: torchvision's ROOT/lfw-py
	// Task is people or pairs. Default people.
	Task string `json:"task"`
	// Usage is 10fold, train, test or all, which is train followed by test.
	// Default 10fold, as torchvision's.
	Usage string `json:"usage"`
	// ImageSet is original (the folder lfw), funneled (lfw_funneled) or
	// deepfunneled (lfw-deepfunneled). Default funneled.
	ImageSet string `json:"image_set"`
}

func init() {
	dataset.Register(dataset.Info{Name: "lfw", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Labeled Faces in the Wild: people, or pairs of photos"})
}

// New returns a source of the people of the ten folds.
func New(dir string) *LFW { return &LFW{dir, "people", "10fold", "funneled"} }

// maxImages exceeds the number of images, 13,233.
const maxImages = 1 << 20

var (
	folders = map[string]string{"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}
	lists   = map[string][]string{"10fold": {""}, "train": {"DevTrain"}, "test": {"DevTest"}, "all": {"DevTrain", "DevTest"}}
	formats = map[string]imagelist.Format{
		"people": {Package: "lfw", Files: []string{"image"}, Numbers: []string{"label"}},
		"pairs":  {Package: "lfw", Files: []string{"image1", "image2"}, Numbers: []string{"label"}},
	}
)

// Validate checks task, usage and image set.
func (o *LFW) Validate() error {
	if o.Task != "people" && o.Task != "pairs" {
		return fmt.Errorf("%w: task %q, want people or pairs", dataset.ErrParam, o.Task)
	}
	if folders[o.ImageSet] == "" {
		return fmt.Errorf("%w: image_set %q, want original, funneled or deepfunneled", dataset.ErrParam, o.ImageSet)
	}
	return files.Usage(o.Usage, "10fold", "train", "test", "all")
}

// Open reads the lists.
func (o *LFW) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(formats[o.Task].Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		p := &parser{l: l, folder: folders[o.ImageSet] + "/", folds: o.Usage == "10fold"}
		line := p.pair
		if o.Task == "people" {
			line = p.person
			if err := p.names(ctx); err != nil {
				return err
			}
		}
		for _, part := range lists[o.Usage] {
			name := o.Task + part + ".txt"
			p.start()
			if err := l.Lines(ctx, name, line); err != nil {
				return err
			}
			if p.state != done {
				return fmt.Errorf("%w: %s: the list ends, want more lines as its counts state", dataset.ErrData, store.Redact(store.Join(o.Dir, name)))
			}
		}
		return nil
	}))
}

// state says what the next line of a list is.
type state int

const (
	head    state = iota // the number of folds, and of pairs
	count                // the number of people of a fold
	entries              // people, or pairs
	done                 // ignored
)

// parser reads lists line by line.
type parser struct {
	l      *imagelist.List
	folder string
	folds  bool // the list has several
	images int

	state
	left  int // folds, the one that is read included
	lines int // of this fold that follow
	pairs int // of one person in a fold, as many as of two
}

func (p *parser) start() {
	p.state, p.left = head, 1
}

// names reads the people of lfw-names.txt.
func (p *parser) names(ctx context.Context) error {
	return p.l.Names(ctx, "lfw-names.txt", func(line string) string { return strings.Fields(line)[0] })
}

func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxImages {
		return 0, fmt.Errorf("%.80q, want a number from 0 to %d", s, maxImages)
	}
	return n, nil
}

// person reads a line of a list of people.
func (p *parser) person(line string) (err error) {
	switch p.state {
	case head:
		if p.folds {
			if p.left, err = number(line); err != nil {
				return err
			}
			p.state = count
			p.ended()
			return nil
		}
		fallthrough
	case count:
		if p.lines, err = number(line); err != nil {
			return err
		}
		p.state = entries
		p.next()
	case entries:
		e := strings.Split(line, "\t")
		label, ok := p.l.Classes[e[0]]
		if len(e) != 2 || !ok {
			return fmt.Errorf("%.80q, want a person of lfw-names.txt, a tab and a number", line)
		}
		n, err := number(e[1])
		if err != nil {
			return err
		}
		for i := 1; i <= n; i++ {
			path, err := p.path(e[0], i)
			if err != nil {
				return err
			}
			if err := p.l.Add([]string{path}, label); err != nil {
				return err
			}
		}
		p.lines--
		p.next()
	}
	return nil
}

// next goes to the next fold of people when one has ended.
func (p *parser) next() {
	if p.lines == 0 {
		p.left--
		p.state = count
		p.ended()
	}
}

func (p *parser) ended() {
	if p.left == 0 {
		p.state = done
	}
}

// pair reads a line of a list of pairs.
func (p *parser) pair(line string) (err error) {
	e := strings.Split(line, "\t")
	switch p.state {
	case head:
		if want := map[bool]int{false: 1, true: 2}[p.folds]; len(e) != want {
			return fmt.Errorf("%.80q, want %d numbers", line, want)
		}
		if p.folds {
			if p.left, err = number(e[0]); err != nil {
				return err
			}
		}
		if p.pairs, err = number(e[len(e)-1]); err != nil {
			return err
		}
		p.lines = 2 * p.pairs
		if p.state = entries; p.lines == 0 {
			p.left = 0
		}
		p.ended()
	case entries:
		same := int32(0)
		if p.lines > p.pairs {
			same = 1
		}
		if len(e) != 4-int(same) {
			return fmt.Errorf("%.80q, want %d fields", line, 4-same)
		}
		if same == 1 {
			e = []string{e[0], e[1], e[0], e[2]}
		}
		var paths [2]string
		for i := range paths {
			n, err := number(e[2*i+1])
			if err != nil {
				return err
			}
			if paths[i], err = p.path(e[2*i], n); err != nil {
				return err
			}
		}
		if err := p.l.AddKey(paths[0]+" "+paths[1], paths[:], same); err != nil {
			return err
		}
		if p.lines--; p.lines == 0 {
			p.lines = 2 * p.pairs
			p.left--
			p.ended()
		}
	}
	return nil
}

// path returns the path of image n of a person.
func (p *parser) path(person string, n int) (string, error) {
	if p.images++; p.images > maxImages {
		return "", errors.New("more than " + strconv.Itoa(maxImages) + " images")
	}
	return fmt.Sprintf("%s%s/%s_%04d.jpg", p.folder, person, person, n), nil
}
