package sbu

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "sbu", fresh, "torchvision", "mindspore")
}

const list = "SBU_captioned_photo_dataset_urls.txt"

func TestMutations(t *testing.T) { settest.Mutate(t, "sbu", list, fresh) }

func TestBadLists(t *testing.T) {
	for content, want := range map[string]string{
		"http://x\n": "urls.txt:1: address \"http://x\", want more than 23 bytes",
		"http://static.flickr.com/2723/4385058960_b0f291553e.jpg\n": "urls.txt:2: the file ends before",
		"\n": "urls.txt:1: address \"\"",
	} {
		settest.Refuses(t, "sbu", list, content, want, fresh)
	}
}

func FuzzList(f *testing.F) { settest.Fuzz(f, "sbu", list, fresh) }

// TestTooLarge: the sizes of lists are bounded before they are read.
func TestTooLarge(t *testing.T) {
	settest.TooLarge(t, "sbu", ".txt", 600<<20, fresh)
}
