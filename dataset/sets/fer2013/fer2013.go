// Package fer2013 reads the dataset FER2013: faces with seven expressions.
// Columns: image, label. Reference: torchvision's FER2013.
package fer2013

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// FER2013 reads the first of these CSV files that exists: fer2013.csv,
// icml_face_data.csv, and train.csv or test.csv. The first two have a column
// that divides them: Training is train, PublicTest and PrivateTest are test.
// Open reads the images of the usage into memory, 2,304 bytes each.
//
// Columns: image (uint8 HWC (48, 48, 1)), label (int32 scalar: the expression
// from 0 to 6, or -1 for the images of test.csv, which have none).
//
// Reference: torchvision 0.29.2's FER2013 reads the same file and has the same
// images, order and labels; the labels of test.csv are None. It accepts any
// label.
type FER2013 struct {
	Dir string `json:"dir"` // folder with the files: torchvision's ROOT/fer2013
	// Usage is train or test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "fer2013", Version: 1, New: func() dataset.Node { return New("") }, Doc: "FER2013: faces with seven expressions in CSV files"})
}

// New returns a source of the training images.
func New(dir string) *FER2013 { return &FER2013{dir, "train"} }

// Validate checks the usage.
func (o *FER2013) Validate() error { return files.Usage(o.Usage, "train", "test") }

const (
	side        = 48
	expressions = 7
)

// Open reads the file.
func (o *FER2013) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &pixels.Rows{Package: "fer2013", Image: tensor.Image(tensor.Uint8, tensor.HWC, side, side, 1)}
	var err error
	for _, p := range []parser{
		{file: "fer2013.csv", pixels: "pixels", usage: "Usage"},
		{file: "icml_face_data.csv", pixels: " pixels", usage: " Usage"},
		{file: o.Usage + ".csv", pixels: "pixels"},
	} {
		p.want = []string{"Training"}
		if o.Usage == "test" {
			p.want = []string{"PublicTest", "PrivateTest"}
		}
		p.unlabeled = p.file == "test.csv"
		err = d.AddText(ctx, s, store.Join(o.Dir, p.file), o.Usage, nil, p.parse)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fer2013: %w", err)
	}
	return d, nil
}

// parser parses the lines of a file.
type parser struct {
	file, pixels, usage string   // names of the columns
	want                []string // of the column usage
	unlabeled           bool

	columns []string
}

func (p *parser) parse(line string, image []byte) (label int32, ok bool, err error) {
	e, err := csv.NewReader(strings.NewReader(line)).Read()
	var syntax *csv.ParseError
	switch {
	case errors.As(err, &syntax):
		return 0, false, syntax.Err
	case err != nil:
		return 0, false, err
	case p.columns == nil:
		p.columns = e
		return 0, false, nil
	case len(e) != len(p.columns):
		return 0, false, fmt.Errorf("%d fields, want %d", len(e), len(p.columns))
	}
	field := func(name string) (string, error) {
		if i := slices.Index(p.columns, name); i >= 0 {
			return e[i], nil
		}
		return "", fmt.Errorf("columns %q, want %q among them", p.columns, name)
	}
	if p.usage != "" {
		if u, err := field(p.usage); err != nil || !slices.Contains(p.want, u) {
			return 0, false, err
		}
	}
	text, err := field(p.pixels)
	if err != nil {
		return 0, false, err
	}
	values := strings.Fields(text)
	if len(values) != len(image) {
		return 0, false, fmt.Errorf("%d pixels, want %d", len(values), len(image))
	}
	for i, v := range values {
		n, err := strconv.ParseUint(v, 10, 8)
		if err != nil {
			return 0, false, fmt.Errorf("pixel %d is %.80q, want 0 to 255", i, v)
		}
		image[i] = byte(n)
	}
	if p.unlabeled {
		return -1, true, nil
	}
	emotion, err := field("emotion")
	if err != nil {
		return 0, false, err
	}
	label, err = imagelist.Int(emotion, "emotion", expressions)
	return label, err == nil, err
}
