package pixels

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
)

// Limits of a text with the pixels of images. FER2013, the largest, has 36,000
// images in 300 MB.
const (
	maxImages = 1 << 18
	maxText   = 1 << 30
)

// AddText appends the images of a text file, one a line. unpack unpacks the
// file, unless it is nil. parse sets all pixels of image and returns the label.
// For a line without an image it returns ok = false. Limits: 262,144 images, 1
// GiB of unpacked text.
func (r *Rows) AddText(ctx context.Context, s store.Opener, name, key string, unpack func(io.Reader) io.Reader,
	parse func(line string, image []byte) (label int32, ok bool, err error)) (err error) {
	f, err := files.OpenReader(ctx, s, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var in io.Reader = f
	if unpack != nil {
		in = unpack(f)
	}
	text := &io.LimitedReader{R: in, N: maxText + 1}
	size := int(r.Image.Size())
	image := make([]byte, size)
	var all []byte
	p := Part{Name: name, Size: f.Size()}
	err = imagelist.Lines(text, name, func(line string) error {
		label, ok, err := parse(line, image)
		if err != nil || !ok {
			return err
		}
		if len(p.Labels) == maxImages {
			return fmt.Errorf("more than %d images", maxImages)
		}
		p.Labels = append(p.Labels, label)
		all = append(all, image...)
		return nil
	})
	switch {
	case err != nil:
		return err
	case text.N <= 0:
		return fmt.Errorf("%w: %s: more than %d bytes of text", dataset.ErrData, store.Redact(name), maxText)
	case len(p.Labels) == 0:
		return fmt.Errorf("%w: %s has no images of this usage", dataset.ErrData, store.Redact(name))
	}
	p.Fill = func(out []byte, i int64) error {
		copy(out, all[int(i)*size:][:size])
		return nil
	}
	r.Add(key, p)
	return nil
}
