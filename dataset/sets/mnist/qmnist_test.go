package mnist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestQMNIST(t *testing.T) {
	fresh := func(dir string) dataset.Source { return &QMNIST{dir, "all", false} }
	settest.Check(t, "qmnist", fresh, "torchvision", "mindspore")
	for _, f := range []string{"qmnist-test-labels-idx2-int", "xnist-images-idx3-ubyte", "qmnist-train-labels-idx2-int.gz"} {
		settest.Mutate(t, "qmnist", f, fresh)
	}
	require.ErrorIs(t, (&QMNIST{"x", "valid", true}).Validate(), dataset.ErrParam)
	for _, c := range []struct {
		file    string
		content []byte
		want    string
	}{
		{"xnist-labels-idx2-int", idx(1, 8), "xnist-labels-idx2-int at byte 0: 00000802, want 00000c02: an IDX file of int32 with 2 axes"},
		{"xnist-labels-idx2-int", append([]byte{0, 0, 12, 2, 0, 0, 0, 1, 0, 0, 0, 4}, make([]byte, 16)...), "at byte 8: labels of 4 numbers, want 8"},
		{"xnist-labels-idx2-int", append([]byte{0, 0, 12, 2, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 10}, make([]byte, 28)...), "at byte 12: digit 10, want 0 to 9"},
		{"xnist-labels-idx2-int", append([]byte{0, 0, 12, 2, 0, 0, 0, 1, 0, 0, 0, 8}, make([]byte, 32)...), "xnist-images-idx3-ubyte at byte 4: 2 images, want 1, the number of labels"},
		{"xnist-labels-idx2-int", append([]byte{0, 0, 12, 2, 0, 0, 0, 1, 0, 0, 0, 8}, make([]byte, 33)...), "33 bytes of data, want [1 8] as the header states"},
	} {
		settest.Refuses(t, "qmnist", c.file, string(c.content), c.want, fresh)
	}
	settest.Refuses(t, "qmnist", "none", "", "2 images, want more than 2 for usage test50k", func(dir string) dataset.Source { return &QMNIST{dir, "test50k", true} })
}

func FuzzQMNISTLabels(f *testing.F) {
	settest.Fuzz(f, "qmnist", "xnist-labels-idx2-int", func(dir string) dataset.Source { return &QMNIST{dir, "nist", false} })
}
