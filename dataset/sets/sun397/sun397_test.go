package sun397

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "sun397", func(dir string) dataset.Source { return New(dir) }, "torchvision", "mindspore")
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "sun397", "ClassName.txt", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "ClassName.txt", "/a/abbey\nabbey\n", "ClassName.txt:2: class \"\", want distinct names"},
	} {
		settest.Refuses(t, "sun397", c.file, c.content, c.want, c.source)
	}
}

func FuzzClassNameTxt(f *testing.F) {
	settest.Fuzz(f, "sun397", "ClassName.txt", func(dir string) dataset.Source { return New(dir) })
}
