// Package mnist reads datasets of handwritten characters in IDX files: MNIST,
// Fashion-MNIST, KMNIST, EMNIST and QMNIST. They differ in the names of their
// files and classes. Columns: image, label. Reference: MindSpore and
// torchvision.
//
// image is uint8 HWC (28, 28, 1), or the size that the files have. label is an
// int32 scalar: the class. QMNIST also has labels of eight numbers.
//
// If a file NAME does not exist, NAME.gz is read: Open unpacks it into memory.
// The size of a file must match its header.
//
// MindSpore 2.10.0's MnistDataset, FashionMnistDataset, KMnistDataset and
// EMnistDataset define the columns. They also define the order of usage all:
// the test images, then those for training. torchvision 0.29.2's MNIST,
// FashionMNIST, KMNIST and EMNIST define the order and the classes' names. Both
// have the same images and labels. MindSpore's labels are uint32, which this
// module lacks, and it refuses images that are not 28x28. torchvision takes any
// size, has no usage all, and returns images without a channel axis. This
// package refuses labels beyond the last class; both references accept them.
package mnist

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// MNIST reads the handwritten digits: train-images-idx3-ubyte,
// train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte.
// Only the files of Usage are required.
type MNIST struct {
	// Dir is the folder with the files: torchvision's ROOT/MNIST/raw.
	Dir string `json:"dir"`
	// Usage is train, test or all, which is test followed by train. Default
	// train.
	Usage string `json:"usage"`
}

// Fashion reads Fashion-MNIST, images of clothes. Its files are named as
// MNIST's.
type Fashion struct {
	Dir   string `json:"dir"`   // torchvision's ROOT/FashionMNIST/raw
	Usage string `json:"usage"` // as MNIST's
}

// KMNIST reads Kuzushiji-MNIST, images of hiragana. Its files are named as
// MNIST's.
type KMNIST struct {
	Dir   string `json:"dir"`   // torchvision's ROOT/KMNIST/raw
	Usage string `json:"usage"` // as MNIST's
}

// EMNIST reads handwritten digits and letters:
// emnist-NAME-train-images-idx3-ubyte and so on. Images are returned as stored,
// which is mirrored along the diagonal.
type EMNIST struct {
	Dir string `json:"dir"` // torchvision's ROOT/EMNIST/raw
	// Name is the split: byclass, bymerge, balanced, letters (labels from 1 to
	// 26), digits or mnist. Default balanced.
	Name  string `json:"name"`
	Usage string `json:"usage"` // as MNIST's
}

func init() {
	dataset.Register(dataset.Info{Name: "mnist", Version: 1, New: func() dataset.Node { return New("") }, Doc: "handwritten digits in IDX files"})
	dataset.Register(dataset.Info{Name: "fashion_mnist", Version: 1, New: func() dataset.Node { return NewFashion("") }, Doc: "images of clothes in IDX files"})
	dataset.Register(dataset.Info{Name: "kmnist", Version: 1, New: func() dataset.Node { return NewKMNIST("") }, Doc: "handwritten hiragana in IDX files"})
	dataset.Register(dataset.Info{Name: "emnist", Version: 1, New: func() dataset.Node { return NewEMNIST("", "balanced") }, Doc: "handwritten digits and letters in IDX files"})
}

// New returns a source of the training images.
func New(dir string) *MNIST { return &MNIST{dir, "train"} }

// NewFashion returns a source of the training images.
func NewFashion(dir string) *Fashion { return &Fashion{dir, "train"} }

// NewKMNIST returns a source of the training images.
func NewKMNIST(dir string) *KMNIST { return &KMNIST{dir, "train"} }

// NewEMNIST returns a source of the training images of a split.
func NewEMNIST(dir, name string) *EMNIST { return &EMNIST{dir, name, "train"} }

// Validate checks the usage.
func (o *MNIST) Validate() error { return usage(o.Usage) }

// Validate checks the usage.
func (o *Fashion) Validate() error { return usage(o.Usage) }

// Validate checks the usage.
func (o *KMNIST) Validate() error { return usage(o.Usage) }

// Validate checks the split's name and the usage.
func (o *EMNIST) Validate() error {
	if emnistClasses[o.Name] == nil {
		return fmt.Errorf("%w: name %q, want one of byclass, bymerge, balanced, letters, digits, mnist", dataset.ErrParam, o.Name)
	}
	return usage(o.Usage)
}

// Open reads the headers and labels.
func (o *MNIST) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	return open(ctx, files, o.Dir, "", "t10k", o.Usage, digitClasses)
}

// Open reads the headers and labels.
func (o *Fashion) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	return open(ctx, files, o.Dir, "", "t10k", o.Usage, fashionClasses)
}

// Open reads the headers and labels.
func (o *KMNIST) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	return open(ctx, files, o.Dir, "", "t10k", o.Usage, kanaClasses)
}

// Open reads the headers and labels.
func (o *EMNIST) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	return open(ctx, files, o.Dir, "emnist-"+o.Name+"-", "test", o.Usage, emnistClasses[o.Name])
}

func usage(u string) error { return files.Usage(u, "train", "test", "all") }

// rows is one or two pairs of files.
type rows struct {
	parts   []part
	image   tensor.Desc
	classes map[string]int32
}

// part is a file of images with its labels.
type part struct {
	images *files.Data
	n      int64
	labels []byte
	keys   files.Keys
}

// open opens the files of a usage. Their names begin with prefix; test is the
// word for test images in them.
func open(ctx context.Context, o store.Opener, dir, prefix, test, usage string, classes []string) (dataset.Data, error) {
	d := &rows{classes: map[string]int32{}}
	for i, c := range classes {
		d.classes[c] = int32(i)
	}
	var names []string
	if usage != "train" {
		names = append(names, prefix+test)
	}
	if usage != "test" {
		names = append(names, prefix+"train")
	}
	for _, name := range names {
		if err := d.add(ctx, o, dir, name, len(classes)); err != nil {
			d.Close()
			return nil, fmt.Errorf("mnist: %w", err)
		}
	}
	return d, nil
}

func (d *rows) add(ctx context.Context, o store.Opener, dir, name string, classes int) error {
	f, err := files.Open(ctx, o, dir, name+"-labels-idx1-ubyte")
	if err != nil {
		return err
	}
	defer f.Close()
	shape, err := openIDX(f, idxUint8, 1)
	if err != nil {
		return err
	}
	p := part{n: shape[0], labels: make([]byte, shape[0])}
	if err := f.Fill(p.labels, headerSize(1)); err != nil {
		return err
	}
	for i, l := range p.labels {
		if int(l) >= classes {
			return f.Errorf(headerSize(1)+int64(i), "label %d, want one of %d classes", l, classes)
		}
	}

	if p.images, err = files.Open(ctx, o, dir, name+"-images-idx3-ubyte"); err != nil {
		return err
	}
	d.parts = append(d.parts, p) // Close closes it from now on
	if shape, err = openIDX(p.images, idxUint8, 3); err != nil {
		return err
	}
	if shape[0] != p.n {
		return p.images.Errorf(4, "%d images, want %d, the number of labels", shape[0], p.n)
	}
	image := tensor.Image(tensor.Uint8, tensor.HWC, int(shape[1]), int(shape[2]), 1)
	if len(d.parts) > 1 && image != d.image {
		return p.images.Errorf(8, "images of %v, want %v as in %s", image, d.image, d.parts[0].images.Name)
	}
	d.image = image
	d.parts[len(d.parts)-1].keys = files.NewKeys(name, p.n)
	return nil
}

// headerSize returns the size of an IDX header: two zeros, the type, the number
// of axes, and the size of each axis.
func headerSize(axes int) int64 { return int64(4 + 4*axes) }

// The types of numbers in IDX files that are read.
const (
	idxUint8 = 8
	idxInt32 = 12
)

// openIDX reads the header of an IDX file of bytes or int32. It checks the
// header against the file's size before anything is allocated.
func openIDX(f *files.Data, kind byte, axes int) ([]int64, error) {
	each, what := int64(1), "bytes"
	if kind == idxInt32 {
		each, what = 4, "int32"
	}
	head, err := f.Head(int(headerSize(axes)))
	if err != nil {
		return nil, err
	}
	if want := [4]byte{0, 0, kind, byte(axes)}; [4]byte(head[:4]) != want {
		return nil, f.Errorf(0, "%x, want %x: an IDX file of %s with %d axes", head[:4], want, what, axes)
	}
	shape := make([]int64, axes)
	for i := range shape {
		shape[i] = int64(binary.BigEndian.Uint32(head[4+4*i:]))
		if shape[i] == 0 {
			return nil, f.Errorf(int64(4+4*i), "axis %d has size 0, want at least 1", i)
		}
	}
	// Divide, since the product may overflow.
	have := f.Size - headerSize(axes)
	left, whole := have/each, have%each == 0
	for _, n := range shape {
		whole = whole && left%n == 0
		left /= n
	}
	size := headerSize(axes)
	if left >= 1 {
		n := each
		for _, s := range shape {
			n *= s
		}
		size += n
	}
	if left < 1 || !f.Packed && (left != 1 || !whole) {
		return nil, f.Errorf(4, "%d bytes of data, want %v as the header states", have, shape)
	}
	return shape, f.Inflate(size)
}

func (d *rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: d.image}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

// Keys yields the name and size of each file of images.
func (d *rows) Keys(yield func(string) bool) {
	for i := range d.parts {
		if !yield(files.SizeKey(d.parts[i].images.Name, d.parts[i].images.Size)) {
			return
		}
	}
}

func (d *rows) Len() (n int64) {
	for i := range d.parts {
		n += d.parts[i].n
	}
	return n
}

// at returns the part with row i and the row's index in it.
func (d *rows) at(i int64) (*part, int64, error) {
	if err := files.Index(i, d.Len()); err != nil {
		return nil, 0, fmt.Errorf("mnist: %w", err)
	}
	k := 0
	for ; i >= d.parts[k].n; k++ {
		i -= d.parts[k].n
	}
	return &d.parts[k], i, nil
}

func (d *rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, i, err := d.at(i)
	if err != nil {
		return err
	}
	s.Key = p.keys.At(i)
	if err := s.Column("image").Reset(d.image); err != nil {
		return err
	}
	if err := p.images.Fill(s.Column("image").Data, headerSize(3)+i*d.image.Size()); err != nil {
		return fmt.Errorf("mnist: %w", err)
	}
	return s.Column("label").SetInt32(int32(p.labels[i]))
}

func (d *rows) Class(i int64) (int64, error) {
	p, i, err := d.at(i)
	if err != nil {
		return 0, err
	}
	return int64(p.labels[i]), nil
}

func (d *rows) ClassIndex() map[string]int32 { return d.classes }

func (d *rows) Close() (err error) {
	for i := range d.parts {
		if e := d.parts[i].images.Close(); err == nil {
			err = e
		}
	}
	return err
}
