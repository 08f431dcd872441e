// Package usps reads the dataset USPS: handwritten digits of postal codes.
// Columns: image, label. Reference: torchvision's USPS and MindSpore's
// USPSDataset.
package usps

import (
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/pixels"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// USPS reads usps and usps.t, texts in the format of LIBSVM: a line has a label
// from 1 to 10 and 256 numbers from -1 to 1, 1:x to 256:x. If a file NAME does
// not exist, NAME.bz2 is read. A pixel is the number x as float32, (x + 1) / 2
// * 255 in float32, without its fraction. Open reads the files into memory.
//
// Columns: image (uint8 HWC (16, 16, 1)), label (int32 scalar: the digit).
//
// Reference: MindSpore 2.10.0's USPSDataset reads usps and usps.t and has the
// same rows and order of usage all; its labels are uint32. torchvision 0.29.2's
// USPS reads usps.bz2 and usps.t.bz2 and has the same images and labels, and no
// usage all. This source refuses numbers beyond -1 to 1, and a line without 256
// of them.
type USPS struct {
	Dir string `json:"dir"` // folder with the files: torchvision's ROOT
	// Usage is train (usps), test (usps.t) or all, which is train followed by
	// test. Default train.
	Usage string `json:"usage"`
}

func init() {
	dataset.Register(dataset.Info{Name: "usps", Version: 1, New: func() dataset.Node { return New("") }, Doc: "USPS: handwritten digits of postal codes"})
}

// New returns a source of the training images.
func New(dir string) *USPS { return &USPS{dir, "train"} }

// Validate checks the usage.
func (o *USPS) Validate() error { return files.Usage(o.Usage, "train", "test", "all") }

const side = 16

// Open reads the files.
func (o *USPS) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	d := &pixels.Rows{Package: "usps", Image: tensor.Image(tensor.Uint8, tensor.HWC, side, side, 1)}
	var names []string
	if o.Usage != "test" {
		names = append(names, "usps")
	}
	if o.Usage != "train" {
		names = append(names, "usps.t")
	}
	for _, name := range names {
		err := d.AddText(ctx, s, store.Join(o.Dir, name), name, nil, parse)
		if errors.Is(err, fs.ErrNotExist) {
			err = d.AddText(ctx, s, store.Join(o.Dir, name+".bz2"), name, func(r io.Reader) io.Reader { return bzip2.NewReader(r) }, parse)
		}
		var corrupt bzip2.StructuralError
		if errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: %w", dataset.ErrData, err)
		}
		if err != nil {
			return nil, fmt.Errorf("usps: %w", err)
		}
	}
	return d, nil
}

func parse(line string, image []byte) (label int32, ok bool, err error) {
	e := strings.Fields(line)
	if len(e) != 1+side*side {
		return 0, false, fmt.Errorf("%d fields, want a label and %d pixels", len(e), side*side)
	}
	n, err := strconv.ParseInt(e[0], 10, 32)
	if err != nil || n < 1 || n > 10 {
		return 0, false, fmt.Errorf("label %.80q, want 1 to 10", e[0])
	}
	for i, t := range e[1:] {
		x, err := strconv.ParseFloat(t[strings.LastIndexByte(t, ':')+1:], 32)
		if err != nil || !(x >= -1 && x <= 1) {
			return 0, false, fmt.Errorf("pixel %d is %.80q, want %d:x with x from -1 to 1", i, t, i+1)
		}
		half := (float32(x) + 1) / 2
		image[i] = uint8(half * 255)
	}
	return int32(n) - 1, true, nil
}
