package widerface

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "widerface", fresh, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []dataset.Source{&WIDERFace{"x", "val"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

const list = "wider_face_split/wider_face_train_bbx_gt.txt"

func TestMutations(t *testing.T) { settest.Mutate(t, "widerface", list, fresh) }

func TestBadLists(t *testing.T) {
	for content, want := range map[string]string{
		"a.jpg\n-1\n":                     "gt.txt:2: number of faces \"-1\", want 0 to",
		"a.jpg\n99999999\n":               "gt.txt:2: number of faces \"99999999\", want 0 to",
		"a.jpg\n1\n1 2 3\n":               "gt.txt:3: 3 numbers, want 10",
		"a.jpg\n1\n1 2 3 x 0 0 0 0 0 0\n": "gt.txt:3: number 4 is \"x\", want -2147483648",
		"a.jpg\n2\n1 2 3 4 0 0 0 0 0 0\n": "the list ends within image \"a.jpg\"",
	} {
		settest.Refuses(t, "widerface", list, content, want, fresh)
	}
}

func FuzzList(f *testing.F) { settest.Fuzz(f, "widerface", list, fresh) }
