// Package sbu reads SBU Captioned Photo. Columns: image, caption. Reference:
// MindSpore's SBUDataset and torchvision's SBU.
package sbu

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/imagelist"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// SBU reads SBU_captioned_photo_dataset_urls.txt and
// SBU_captioned_photo_dataset_captions.txt, whose lines belong together, and
// the images that are there, in the order of the lists. An image is
// sbu_images/NAME, where NAME is the address from its 24th byte on with _ for
// each slash. If Dir has no folder sbu_images, the image is in Dir itself and
// its name is the last part of the address.
//
// Columns: image (bytes: the file), caption (bytes: the line without white
// space at its ends).
//
// Reference: MindSpore 2.10.0's SBUDataset has the same rows, from sbu_images.
// torchvision 0.29.2's SBU has the same rows, from its folder. It keeps white
// space before a caption, and ends with the shorter list. Lists of different
// lengths are an error here.
type SBU struct {
	Dir string `json:"dir"` // folder with the lists: torchvision's ROOT/dataset
}

func init() {
	dataset.Register(dataset.Info{Name: "sbu", Version: 1, New: func() dataset.Node { return New("") }, Doc: "SBU Captioned Photo: photos with captions"})
}

// New returns a source.
func New(dir string) *SBU { return &SBU{dir} }

// Validate accepts any folder.
func (o *SBU) Validate() error { return nil }

var format = imagelist.Format{Package: "sbu", Files: []string{"image"}, More: []dataset.Column{imagelist.TextColumn("caption")}}

const (
	images = "sbu_images"
	// host is the length of what precedes the name in an address; the real ones
	// begin with http://static.flickr.com/.
	host = 23
)

// Open reads the lists and the names of the images.
func (o *SBU) Open(ctx context.Context, s store.Opener) (dataset.Data, error) {
	return imagelist.Data(format.Open(ctx, s, o.Dir, func(l *imagelist.List) error {
		top, err := l.Folders(ctx, "")
		if err != nil {
			return err
		}
		folder := ""
		if slices.Contains(top, images) {
			folder = images + "/"
		}
		names, err := l.FilesIn(ctx, folder)
		if err != nil {
			return err
		}
		have := imagelist.Number(names)
		return l.Pairs(ctx, "SBU_captioned_photo_dataset_urls.txt", "SBU_captioned_photo_dataset_captions.txt", func(url, caption string) error {
			name := path.Base(url)
			if folder != "" {
				if len(url) <= host {
					return fmt.Errorf("address %.80q, want more than %d bytes", url, host)
				}
				name = strings.ReplaceAll(url[host:], "/", "_")
			}
			if _, ok := have[name]; !ok {
				return nil
			}
			return l.AddMore([]string{folder + name}, []tensor.Tensor{imagelist.Text(caption)})
		})
	}))
}
