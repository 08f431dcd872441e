// Package flickr reads Flickr8k and Flickr30k: photos with five captions each.
// Columns: image, annotation. Reference: MindSpore's FlickrDataset and
// torchvision's Flickr30k.
package flickr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Flickr reads a list of captions, such as Flickr8k.token.txt or
// results_20130124.token: lines of IMAGE#NUMBER, a tab and a caption. Rows are
// the images, sorted by name.
//
// Columns: image (bytes: the file), annotation (bytes: the captions of the
// image in the order of the list, with a newline between two).
//
// Reference: MindSpore 2.10.0's FlickrDataset has the same rows, their captions
// as an array of texts. torchvision 0.29.2's Flickr30k has the same rows, their
// captions as a list. Its Flickr8k reads the captions of an HTML page, which is
// not read here; Flickr8k.token.txt is.
type Flickr struct {
	Dir         string `json:"dir"`         // folder of the images
	Annotations string `json:"annotations"` // the list
}

func init() {
	dataset.Register(dataset.Info{Name: "flickr", Version: 1, New: func() dataset.Node { return New("", "") }, Doc: "Flickr8k and Flickr30k: photos with captions"})
}

// New returns a source.
func New(dir, annotations string) *Flickr { return &Flickr{dir, annotations} }

// Validate accepts any files.
func (o *Flickr) Validate() error { return nil }

var format = imagelist.Format{Package: "flickr", Files: []string{"image"}, More: []dataset.Column{imagelist.TextColumn("annotation")}}

// maxCaptions bounds the bytes of an image's captions.
const maxCaptions = 1 << 20

// Open reads the list.
func (o *Flickr) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) (err error) {
		f, err := new(files.Lists).Open(ctx, s, o.Annotations)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		captions := map[string][]byte{}
		if err := imagelist.Lines(f, o.Annotations, func(line string) error {
			id, caption, ok := strings.Cut(line, "\t")
			i := strings.LastIndexByte(id, '#')
			if !ok || i < 1 || strings.Contains(caption, "\t") {
				return fmt.Errorf("%.80q, want IMAGE#NUMBER, a tab and a caption", line)
			}
			b, more := captions[id[:i]]
			if more {
				b = append(b, '\n')
			}
			if len(b)+len(caption) > maxCaptions {
				return fmt.Errorf("captions of %.80q have more than %d bytes", id[:i], maxCaptions)
			}
			captions[id[:i]] = append(b, caption...)
			return nil
		}); err != nil {
			return err
		}
		for _, n := range slices.Sorted(maps.Keys(captions)) {
			if err := l.AddMore([]string{n}, []tensor.Tensor{*tensor.FromBytes(captions[n])}); err != nil {
				return err
			}
		}
		return nil
	}))
}
