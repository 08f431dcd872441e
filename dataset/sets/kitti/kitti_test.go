package kitti

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "kitti", fresh, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []dataset.Source{&Kitti{"x", "val"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

const list = "data_object_label_2/training/label_2/000002.txt"

func TestMutations(t *testing.T) { settest.Mutate(t, "kitti", list, fresh) }

func TestBadLists(t *testing.T) {
	for content, want := range map[string]string{
		"Car 0 0 0 1 2 3 4 5 6 7 8 9 10\n":        "000002.txt:1: 14 fields, want a type and 14 numbers",
		"\nCar 0 0.5 0 1 2 3 4 5 6 7 8 9 10 11\n": "000002.txt:2: occluded \"0.5\", want a whole number from -1",
		"Car nan 0 0 1 2 3 4 5 6 7 8 9 10 11\n":   "000002.txt:1: field 2 is \"nan\", want a finite number",
	} {
		settest.Refuses(t, "kitti", list, content, want, fresh)
	}
}

func FuzzList(f *testing.F) { settest.Fuzz(f, "kitti", list, fresh) }

// TestTooLarge: the sizes of lists are bounded before they are read.
func TestTooLarge(t *testing.T) {
	settest.TooLarge(t, "kitti", ".txt", 400<<20, fresh)
}
