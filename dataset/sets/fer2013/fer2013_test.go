package fer2013

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "fer2013", func(dir string) dataset.Source { return &FER2013{dir + "/fer", "train"} }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*FER2013{{"x", "valid"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "fer2013", "fer/fer2013.csv", func(dir string) dataset.Source { return &FER2013{dir + "/fer", "test"} })
	settest.Mutate(t, "fer2013", "challenge/test.csv", func(dir string) dataset.Source { return &FER2013{dir + "/challenge", "test"} })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir + "/fer") }, "fer/fer2013.csv", "emotion,pixels\n1,2\n", "fer2013.csv:2: columns [\"emotion\" \"pixels\"], want \"Usage\" among them"},
		{func(dir string) dataset.Source { return New(dir + "/fer") }, "fer/fer2013.csv", "emotion,pixels,Usage\n1,2,Training\n", "fer2013.csv:2: 1 pixels, want 2304"},
		{func(dir string) dataset.Source { return New(dir + "/fer") }, "fer/fer2013.csv", "emotion,pixels,Usage\n1,2\n", "fer2013.csv:2: 2 fields, want 3"},
		{func(dir string) dataset.Source { return New(dir + "/challenge") }, "challenge/train.csv", "emotion,pixels\n", "has no images of this usage"},
	} {
		settest.Refuses(t, "fer2013", c.file, c.content, c.want, c.source)
	}
}

func FuzzFer2013Csv(f *testing.F) {
	settest.Fuzz(f, "fer2013", "fer/fer2013.csv", func(dir string) dataset.Source { return &FER2013{dir + "/fer", "test"} })
}

func FuzzTestCsv(f *testing.F) {
	settest.Fuzz(f, "fer2013", "challenge/test.csv", func(dir string) dataset.Source { return &FER2013{dir + "/challenge", "test"} })
}
