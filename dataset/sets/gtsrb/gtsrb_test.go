package gtsrb

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "gtsrb", func(dir string) dataset.Source { return &GTSRB{dir, "test"} }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*GTSRB{{"x", "val"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "gtsrb", "GT-final_test.csv", func(dir string) dataset.Source { return &GTSRB{dir, "test"} })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return &GTSRB{dir, "test"} }, "GT-final_test.csv", "Filename;Width\n", "GT-final_test.csv:1: columns [\"Filename\" \"Width\"], want Filename and ClassId among them"},
		{func(dir string) dataset.Source { return &GTSRB{dir, "test"} }, "GT-final_test.csv", "Filename;ClassId\na.ppm;43\n", "GT-final_test.csv:2: ClassId \"43\", want 0 to 42"},
		{func(dir string) dataset.Source { return &GTSRB{dir, "test"} }, "GT-final_test.csv", "Filename;ClassId\na.ppm\n", "GT-final_test.csv:2: 1 fields, want 2"},
		{func(dir string) dataset.Source { return &GTSRB{dir, "test"} }, "GT-final_test.csv", "Filename;ClassId\n\"a;1\n", "GT-final_test.csv:2:"},
	} {
		settest.Refuses(t, "gtsrb", c.file, c.content, c.want, c.source)
	}
}

func FuzzGTFinalTestCsv(f *testing.F) {
	settest.Fuzz(f, "gtsrb", "GT-final_test.csv", func(dir string) dataset.Source { return &GTSRB{dir, "test"} })
}
