// Package celeba reads the dataset CelebA: photos of faces with 40 attributes.
// Columns: image, attr. Reference: MindSpore's CelebADataset and torchvision's
// CelebA.
package celeba

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// CelebA reads the photos that list_attr_celeba.txt lists, in its order. The
// file has the number of photos, a line with the attributes' names, and one
// line per photo. A photo's line has its file name and 1 or -1 for each
// attribute. list_eval_partition.txt assigns the same photos, in the same
// order, to the usages. It is not read if Usage is all.
//
// Columns: image (bytes: the file), attr (int32 (attributes): 1 or 0).
//
// Reference: MindSpore 2.10.0's CelebADataset (columns; its attr is uint32, and
// its images are beside the lists, so Images is empty). torchvision 0.29.2's
// CelebA with target attr (order and folder of images; its attr is int64). Both
// have the same samples. Unlike them, this source refuses a wrong number of
// photos, lists of different photos, and values other than 1 and -1. A photo
// outside Dir is an error of its row; store.AllowOutside permits it.
type CelebA struct {
	Dir string `json:"dir"` // folder with the lists: torchvision's ROOT/celeba
	// Images is the folder of the images below Dir, with slashes. Default
	// img_align_celeba; empty for Dir itself.
	Images string `json:"images"`
	// Usage is train, valid, test or all. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "celeba", Version: 1, New: func() dataset.Node { return New("") }, Doc: "CelebA: photos of faces with 40 attributes"})
}

// New returns a source of the training photos.
func New(dir string) *CelebA { return &CelebA{dir, "img_align_celeba", "train"} }

// Validate checks the usage, and that Images is below Dir.
func (o *CelebA) Validate() error {
	if o.Images != "" && !filepath.IsLocal(filepath.FromSlash(o.Images)) {
		return fmt.Errorf("%w: images %q, want a folder below dir", dataset.ErrParam, o.Images)
	}
	return files.Usage(o.Usage, "train", "valid", "test", "all")
}

// maxAttributes exceeds the length of any such list; CelebA has 40.
const maxAttributes = 4096

// Open reads the lists.
func (o *CelebA) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d, err := o.open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("celeba: %w", err)
	}
	return d, nil
}

func (o *CelebA) open(ctx context.Context, s store.Opener) (_ *rows, err error) {
	folder, err := files.OpenFolder(ctx, s, o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Close())
		}
	}()
	attr, err := openList(ctx, folder, store.Join(o.Dir, "list_attr_celeba.txt"))
	if err != nil {
		return nil, err
	}
	defer attr.close()
	var part *list
	if o.Usage != "all" {
		if part, err = openList(ctx, folder, store.Join(o.Dir, "list_eval_partition.txt")); err != nil {
			return nil, err
		}
		defer part.close()
	}
	d, err := parse(store.Join(o.Dir, o.Images), o.Usage, attr, part)
	if err != nil {
		return nil, err
	}
	d.folder = folder
	return d, nil
}

// parse reads the list of attributes and, unless nil, the list of partitions.
func parse(dir, usage string, attr, part *list) (*rows, error) {
	d := &rows{dir: dir}
	f, err := attr.fields()
	if err != nil {
		return nil, attr.end(err)
	}
	claimed, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || len(f) != 1 {
		return nil, attr.errorf("%q, want the number of photos", strings.Join(f, " "))
	}
	if f, err = attr.fields(); err != nil {
		return nil, attr.end(err)
	}
	if d.attributes = len(f); d.attributes > maxAttributes {
		return nil, attr.errorf("%d attributes, want at most %d", d.attributes, maxAttributes)
	}
	listed := int64(0)
	for ; ; listed++ {
		f, err := attr.fields()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, attr.end(err)
		}
		if len(f) != 1+d.attributes {
			return nil, attr.errorf("%d values, want %d", len(f)-1, d.attributes)
		}
		of := usage
		if part != nil {
			if of, err = partOf(part, f[0]); err != nil {
				return nil, err
			}
		}
		n := len(d.attrs)
		for i, v := range f[1:] {
			switch v {
			case "1":
				d.attrs = append(d.attrs, 1)
			case "-1":
				d.attrs = append(d.attrs, 0)
			default:
				return nil, attr.errorf("attribute %d is %q, want 1 or -1", i, v)
			}
		}
		if of == usage {
			d.keys = append(d.keys, strings.Clone(f[0]))
		} else {
			d.attrs = d.attrs[:n]
		}
	}
	if listed != claimed {
		return nil, attr.errorf("the list ends after %d photos, want %d as the first line states", listed, claimed)
	}
	if part != nil {
		if f, err := part.fields(); err == nil {
			return nil, part.errorf("%q, want the end, since %s ends here", f[0], attr.name)
		} else if err != io.EOF {
			return nil, part.end(err)
		}
	}
	if len(d.keys) == 0 {
		return nil, attr.errorf("no photos of usage %s", usage)
	}
	return d, nil
}

// partOf returns the usage of the list's next photo, which must be photo.
func partOf(part *list, photo string) (string, error) {
	f, err := part.fields()
	if err != nil {
		return "", part.end(err)
	}
	if len(f) != 2 || f[0] != photo {
		return "", part.errorf("%q, want %q and its partition", strings.Join(f, " "), photo)
	}
	switch f[1] {
	case "0":
		return "train", nil
	case "1":
		return "valid", nil
	case "2":
		return "test", nil
	}
	return "", part.errorf("partition %q, want 0, 1 or 2", f[1])
}

// list reads a text file of fields separated by spaces.
type list struct {
	name string
	s    *bufio.Scanner
	line int
	f    io.Closer
}

func openList(ctx context.Context, o store.Opener, name string) (*list, error) {
	f, err := new(files.Lists).Open(ctx, o, name)
	if err != nil {
		return nil, err
	}
	l := newList(name, f)
	l.f = f
	return l, nil
}

func newList(name string, r io.Reader) *list {
	l := &list{name: name, s: bufio.NewScanner(r)}
	l.s.Buffer(nil, 1<<20)
	return l
}

func (l *list) close() { l.f.Close() }

// fields returns the fields of the next line that is not empty, or io.EOF.
func (l *list) fields() ([]string, error) {
	for l.s.Scan() {
		l.line++
		if f := strings.Fields(l.s.Text()); len(f) > 0 {
			return f, nil
		}
	}
	if err := l.s.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

// end converts an error of fields.
func (l *list) end(err error) error {
	if errors.Is(err, io.EOF) {
		return l.errorf("the list ends, want more lines")
	}
	l.line++
	return l.errorf("%v", err)
}

func (l *list) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s:%d: %s", dataset.ErrData, store.Redact(l.name), l.line, fmt.Sprintf(format, args...))
}

type rows struct {
	folder     store.Folder
	dir        string
	keys       []string
	attributes int
	attrs      []byte // of all photos
}

func (d *rows) desc() tensor.Desc {
	return tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(d.attributes)}
}

func (d *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "attr", Desc: d.desc()}}
}

func (d *rows) Len() int64 { return int64(len(d.keys)) }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return fmt.Errorf("celeba: %w", err)
	}
	s.Key = d.keys[i]
	if err := files.Read(ctx, d.folder, s.Column("image"), store.Join(d.dir, d.keys[i])); err != nil {
		return fmt.Errorf("celeba: %w", err)
	}
	if err := s.Column("attr").Reset(d.desc()); err != nil {
		return err
	}
	out := tensor.View[int32](&s.Column("attr").Tensor)
	for k, a := range d.attrs[int(i)*d.attributes:][:d.attributes] {
		out[k] = int32(a)
	}
	return nil
}

// Keys yields the names of the photos.
func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.keys, yield) }

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, fmt.Errorf("celeba: %w", err)
	}
	b, err := files.Stamp(ctx, d.folder, b, store.Join(d.dir, d.keys[i]))
	if err != nil {
		return nil, fmt.Errorf("celeba: %w", err)
	}
	return b, nil
}

func (d *rows) Close() error { return d.folder.Close() }
