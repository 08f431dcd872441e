// Package phototour reads the dataset Photo Tourism (Multi-view Stereo
// Correspondence): patches of photos, or pairs of patches that match or not.
// Columns: image; or image1, image2, matches. Reference: MindSpore's
// PhotoTourDataset and torchvision's PhotoTour.
package phototour

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// PhotoTour reads the pictures *.bmp of a folder, in the order of their names.
// Each has patches of 64 x 64 pixels, from left to right and from top to
// bottom. Pictures must be uncompressed, with 8 bits a pixel. info.txt has a
// line for every patch; further patches are ignored. m50_100000_100000_0.txt
// has a line for every pair: patch, point, a number, patch, point, and other
// numbers. Open reads the lists and the headers of the pictures.
//
// Columns of usage train: image (uint8 HWC (64, 64, 1)). Columns of usage test:
// image1, image2 (the same), matches (int32 scalar: 1 if both patches show the
// same point, else 0).
//
// Reference: MindSpore 2.10.0's PhotoTourDataset has the same rows and order.
// Its matches are uint32, and it requires 16 x 16 patches in a picture, as the
// published pictures have. torchvision 0.29.2's PhotoTour has the same patches,
// order and matches, without an axis of channels. In both, the name of the
// folder is a parameter. Pixels are the bytes of the picture, as in
// torchvision. MindSpore maps them through the picture's palette, which changes
// nothing in the published pictures.
type PhotoTour struct {
	Dir string `json:"dir"` // folder with the pictures, such as ROOT/liberty
	// Usage is train for all patches or test for pairs. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "photo_tour", Version: 1, New: func() dataset.Node { return New("") }, Doc: "Photo Tourism: patches of photos, or pairs of patches that match or not"})
}

// New returns a source of all patches.
func New(dir string) *PhotoTour { return &PhotoTour{dir, "train"} }

// Validate checks the usage.
func (o *PhotoTour) Validate() error { return files.Usage(o.Usage, "train", "test") }

const (
	side       = 64      // of a patch
	maxPatches = 1 << 24 // the largest set has 633,587
	info       = "info.txt"
	pairs      = "m50_100000_100000_0.txt"
)

var patch = tensor.Image(tensor.Uint8, tensor.HWC, side, side, 1)

// Open reads the lists and the headers of the pictures.
func (o *PhotoTour) Open(ctx context.Context, s store.Opener) (_ dataset.Data, err error) {
	d := &rows{dir: o.Dir, pairs: o.Usage == "test"}
	if d.folder, err = files.OpenFolder(ctx, s, o.Dir); err != nil {
		return nil, fmt.Errorf("phototour: %w", err)
	}
	if err := d.open(ctx); err != nil {
		return nil, fmt.Errorf("phototour: %w", errors.Join(err, d.folder.Close()))
	}
	return d, nil
}

// rows are patches, or pairs of them.
type rows struct {
	folder   store.Folder
	dir      string
	pictures []picture
	pairs    bool
	n        int64 // patches
	lists    files.Lists
	matches  []match
}

// picture is a bitmap of patches.
type picture struct {
	name  string
	first int64 // patch
	bitmap
}

type match struct{ a, b, same int32 }

func (d *rows) open(ctx context.Context) error {
	entries, err := d.folder.ListNames(ctx, d.dir)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, e := range entries {
		if e.Folder || !strings.HasSuffix(e.Base, "bmp") {
			continue
		}
		p := picture{name: store.Join(d.dir, e.Base), first: total}
		if err := p.open(ctx, d.folder); err != nil {
			return err
		}
		if total += int64(p.width/side) * int64(p.height/side); total > maxPatches {
			return fmt.Errorf("%w: %s: more than %d patches", dataset.ErrData, store.Redact(d.dir), maxPatches)
		}
		d.pictures = append(d.pictures, p)
	}
	if err := d.lines(ctx, info, func(line string) error {
		if d.n == total {
			return fmt.Errorf("a line for patch %d, want at most %d as in the pictures", d.n, total)
		}
		d.n++
		point, _, _ := strings.Cut(line, " ")
		_, err := imagelist.Int(point, "point", math.MaxInt32)
		return err
	}); err != nil {
		return err
	}
	if d.pairs && d.n > 0 {
		if err := d.lines(ctx, pairs, d.pair); err != nil {
			return err
		}
	}
	if d.Len() == 0 {
		return fmt.Errorf("%w: %s has no patches of this usage", dataset.ErrData, store.Redact(d.dir))
	}
	return nil
}

// lines calls each with the lines of a file.
func (d *rows) lines(ctx context.Context, name string, each func(string) error) (err error) {
	name = store.Join(d.dir, name)
	f, err := d.lists.Open(ctx, d.folder, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return imagelist.Lines(f, name, each)
}

// pair reads a line of the pairs.
func (d *rows) pair(line string) error {
	e := strings.Fields(line)
	if len(e) < 5 {
		return fmt.Errorf("%d fields, want patch, point, a number, patch and point", len(e))
	}
	if len(d.matches) == maxPatches {
		return fmt.Errorf("more than %d pairs", maxPatches)
	}
	var m match
	var err error
	if m.a, err = imagelist.Int(e[0], "patch", int(d.n)); err != nil {
		return err
	}
	if m.b, err = imagelist.Int(e[3], "patch", int(d.n)); err != nil {
		return err
	}
	if e[1] == e[4] {
		m.same = 1
	}
	d.matches = append(d.matches, m)
	return nil
}

func (d *rows) Columns() []dataset.Column {
	if !d.pairs {
		return []dataset.Column{{Name: "image", Desc: patch}}
	}
	return []dataset.Column{{Name: "image1", Desc: patch}, {Name: "image2", Desc: patch}, {Name: "matches", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (d *rows) Len() int64 {
	if d.pairs {
		return int64(len(d.matches))
	}
	return d.n
}

// at returns the picture with a patch.
func (d *rows) at(i int64) *picture {
	return &d.pictures[sort.Search(len(d.pictures), func(k int) bool { return d.pictures[k].first > i })-1]
}

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return fmt.Errorf("phototour: %w", err)
	}
	if !d.pairs {
		s.Key = strconv.FormatInt(i, 10)
		return d.patch(ctx, i, s.Column("image"))
	}
	m := d.matches[i]
	s.Key = fmt.Sprintf("%d %d", m.a, m.b)
	if err := d.patch(ctx, int64(m.a), s.Column("image1")); err != nil {
		return err
	}
	if err := d.patch(ctx, int64(m.b), s.Column("image2")); err != nil {
		return err
	}
	return s.Column("matches").SetInt32(m.same)
}

// patch reads a patch.
func (d *rows) patch(ctx context.Context, i int64, v *dataset.Value) error {
	if err := v.Reset(patch); err != nil {
		return err
	}
	p := d.at(i)
	if err := p.crop(ctx, d.folder, v.Data, int(i-p.first)); err != nil {
		return fmt.Errorf("phototour: %w", err)
	}
	return nil
}

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, fmt.Errorf("phototour: %w", err)
	}
	patches, same := []int64{i}, int32(0)
	if d.pairs {
		m := d.matches[i]
		patches, same = []int64{int64(m.a), int64(m.b)}, m.same
	}
	b = append(b, byte(same))
	for _, k := range patches {
		p := d.at(k)
		b = strconv.AppendInt(append(b, ' '), k-p.first, 10)
		var err error
		if b, err = files.Stamp(ctx, d.folder, b, p.name); err != nil {
			return nil, fmt.Errorf("phototour: %w", err)
		}
	}
	return b, nil
}

// Keys yields the names of the pictures, and the numbers of patches and pairs.
func (d *rows) Keys(yield func(string) bool) {
	for i := range d.pictures {
		if !yield(d.pictures[i].name) {
			return
		}
	}
	yield(fmt.Sprintf("%d %d", d.n, len(d.matches)))
}

func (d *rows) Close() error { return d.folder.Close() }
