// Package manifest reads the images and labels that a manifest file lists, one
// per line. Columns: image, label. Reference: MindSpore's ManifestDataset.
package manifest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/jsonstream"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Manifest reads the images of a manifest file. Each line is a JSON object:
//
//	{"source": "images/1.jpg", "usage": "train", "annotation": [{"name": "cat"}]}
//
// Images have the order of the lines. Images of another usage and images
// without a label are ignored, and so are labels that ClassIndexing does not
// list. A source is a path in the manifest's folder, absolute or relative to
// it; store.AllowOutside permits others. Other members of the objects and empty
// lines are ignored. Classes are those of the usage, numbered from 0 in the
// byte order of their names.
//
// Columns: image (bytes: the file), label (int32: the class). The label is a
// scalar if every image has one label. Otherwise it is a vector of the image's
// labels in their order.
//
// Reference: MindSpore 2.10.0's ManifestDataset has the same images, order and
// labels. These differences are intended:
//
//   - If some images have several labels, the labels of all images are vectors;
//     MindSpore mixes in scalars.
//   - A relative source does not depend on the process's working directory.
//   - usage may be any word, not only train, eval and inference.
//   - Images are not opened to find their format. MindSpore drops files that
//     are not JPEG, PNG, GIF or BMP; here they are rows, and an unreadable
//     image is an error of its row.
type Manifest struct {
	File  string `json:"file"`
	Usage string `json:"usage"` // selects images; case is ignored
	// ClassIndexing numbers the classes; other classes are ignored. Default:
	// all classes, in the order of their names.
	ClassIndexing map[string]int32 `json:"class_indexing"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "manifest", Version: 1, New: func() dataset.Node { return New("") },
		Doc: "the images and labels that a manifest file lists",
	})
}

// New returns a source of the images for training.
func New(file string) *Manifest {
	return &Manifest{File: file, Usage: "train", ClassIndexing: map[string]int32{}}
}

// Validate requires a usage.
func (o *Manifest) Validate() error {
	if o.Usage == "" {
		return fmt.Errorf("%w: no usage, want one", dataset.ErrParam)
	}
	return nil
}

// Open reads the manifest.
func (o *Manifest) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	f, err := files.OpenText(ctx, s, o.File)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	d, err := parse(f, o.Usage, o.ClassIndexing)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("manifest: %s: %w", store.Redact(o.File), err)
	}
	d.dir = store.Dir(o.File)
	if d.folder, err = files.OpenFolder(ctx, s, d.dir); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if d.single {
		return oneLabel{d}, nil
	}
	return d, nil
}

// maxLine is the length above which a line is refused.
const maxLine = 16 << 20

// parse reads a manifest.
func parse(r io.Reader, usage string, index map[string]int32) (*rows, error) {
	d := &rows{classes: map[string]int32{}, start: []int{0}, single: true}
	var names []string
	number := map[string]int32{}
	l := line{s: jsonstream.New(nil)}
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		b, err := next(in, l.text[:0])
		if errors.Is(err, io.EOF) {
			break
		}
		if l.text = b; err == nil && len(bytes.TrimSpace(b)) > 0 {
			err = l.parse(usage)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(b)) == 0 || !l.used {
			continue
		}
		for _, name := range l.names {
			label, ok := index[name]
			if !ok && len(index) > 0 {
				continue
			}
			if !ok {
				if label, ok = number[name]; !ok {
					label = int32(len(names))
					number[name] = label
					names = append(names, name)
				}
			}
			d.labels = append(d.labels, label)
		}
		if k := len(d.labels) - d.start[len(d.sources)]; k > 0 {
			d.sources = append(d.sources, l.source)
			d.start = append(d.start, len(d.labels))
			d.single = d.single && k == 1
		}
	}
	if len(d.sources) == 0 {
		return nil, fmt.Errorf("%w: no image for usage %q has a label", dataset.ErrData, usage)
	}
	if len(index) > 0 {
		d.classes = index
		return d, nil
	}
	for i, n := range slices.Sorted(slices.Values(names)) {
		d.classes[n] = int32(i)
	}
	for i, l := range d.labels {
		d.labels[i] = d.classes[names[l]]
	}
	return d, nil
}

// next appends a line to b. It returns io.EOF after the last line.
func next(in *bufio.Reader, b []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		b = append(b, part...)
		switch {
		case len(b) > maxLine:
			return b, fmt.Errorf("%w: more than %d bytes", dataset.ErrData, maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(b) > 0:
			return b, nil
		default:
			return b, err
		}
	}
}

// line parses the lines of a manifest.
type line struct {
	s      *jsonstream.Scanner
	r      bytes.Reader
	text   []byte
	source string
	names  []string
	used   bool // has the wanted usage
}

func (l *line) parse(usage string) error {
	l.r.Reset(l.text)
	s := l.s
	s.Reset(&l.r)
	l.source, l.names, l.used = "", l.names[:0], false
	has := map[string]bool{}
	err := s.Object(func(key []byte) (err error) {
		k := string(key)
		switch k {
		case "source", "usage", "annotation":
			if has[k] {
				return s.Errorf("%q is there twice", k)
			}
			has[k] = true
		}
		switch k {
		case "source":
			l.source, err = s.String()
		case "usage":
			var u string
			u, err = s.String()
			l.used = strings.EqualFold(u, usage)
		case "annotation":
			err = s.Array(l.label)
		default:
			err = s.Skip()
		}
		return err
	})
	if err == nil {
		err = s.End()
	}
	if err == nil && !has["usage"] {
		err = s.Errorf(`no "usage"`)
	}
	if err != nil || !l.used {
		return err
	}
	for _, k := range []string{"source", "annotation"} {
		if !has[k] {
			return s.Errorf("no %q", k)
		}
	}
	if slices.Contains(l.names, "") {
		return s.Errorf("an annotation without a name")
	}
	return nil
}

// label reads an annotation.
func (l *line) label() error {
	name := ""
	err := l.s.Object(func(key []byte) (err error) {
		if string(key) == "name" {
			name, err = l.s.String()
			return err
		}
		return l.s.Skip()
	})
	l.names = append(l.names, name)
	return err
}

type rows struct {
	folder  store.Folder
	dir     string
	sources []string
	start   []int // of each image's labels
	labels  []int32
	single  bool // every image has one label
	classes map[string]int32
}

func (d *rows) Columns() []dataset.Column {
	label := tensor.Desc{DType: tensor.Int32}
	if !d.single {
		label.Shape = tensor.Dims(tensor.Unknown)
	}
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: label}}
}

func (d *rows) Len() int64 { return int64(len(d.sources)) }

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return err
	}
	s.Key = d.sources[i]
	if err := files.Read(ctx, d.folder, s.Column("image"), d.file(i)); err != nil {
		return err
	}
	if d.single {
		return s.Column("label").SetInt32(d.labels[i])
	}
	labels := d.labels[d.start[i]:d.start[i+1]]
	if err := s.Column("label").Reset(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(labels))}); err != nil {
		return err
	}
	copy(tensor.View[int32](&s.Column("label").Tensor), labels)
	return nil
}

// Keys yields the images' sources.
func (d *rows) Keys(yield func(string) bool) { files.EachKey(d.sources, yield) }

// file returns the name of row i's image.
func (d *rows) file(i int64) string {
	if name := d.sources[i]; store.IsAbs(name) {
		return name
	}
	return store.Join(d.dir, d.sources[i])
}

// Stamp implements dataset.Stamped.
func (d *rows) Stamp(ctx context.Context, i int64, b []byte) ([]byte, error) {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return nil, err
	}
	return files.Stamp(ctx, d.folder, b, d.file(i))
}

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() error { return d.folder.Close() }

// oneLabel is rows with one label each, which is their class.
type oneLabel struct{ *rows }

func (d oneLabel) Class(i int64) (int64, error) { return int64(d.labels[i]), nil }
