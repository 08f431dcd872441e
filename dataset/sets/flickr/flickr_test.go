package flickr

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir+"/images", dir+"/Flickr8k.token.txt") }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "flickr8k", fresh, "torchvision", "mindspore")
	settest.Check(t, "flickr30k", func(dir string) dataset.Source { return New(dir+"/images", dir+"/results_20130124.token") }, "torchvision", "mindspore")
}

const list = "Flickr8k.token.txt"

func TestMutations(t *testing.T) { settest.Mutate(t, "flickr8k", list, fresh) }

func TestBadLists(t *testing.T) {
	for content, want := range map[string]string{
		"a.jpg#0 no tab\n": "token.txt:1: \"a.jpg#0 no tab\", want IMAGE#NUMBER, a tab and a caption",
		"a.jpg\tb\n":       "token.txt:1: \"a.jpg\\tb\", want IMAGE#NUMBER",
		"a.jpg#0\tb\tc\n":  "token.txt:1:",
	} {
		settest.Refuses(t, "flickr8k", list, content, want, fresh)
	}
}

func FuzzList(f *testing.F) { settest.Fuzz(f, "flickr8k", list, fresh) }

// TestTooLarge: the sizes of lists are bounded before they are read.
func TestTooLarge(t *testing.T) {
	settest.TooLarge(t, "flickr30k", ".token", 1<<30+1, func(dir string) dataset.Source { return New(dir+"/images", dir+"/results_20130124.token") })
}
