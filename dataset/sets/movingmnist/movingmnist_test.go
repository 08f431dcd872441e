package movingmnist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) { settest.Check(t, "movingmnist", fresh, "torchvision") }

func TestValidate(t *testing.T) {
	for _, o := range []*MovingMNIST{{"x", "valid", 10}, {"x", "all", 0}, {"x", "train", 20}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) { settest.Mutate(t, "movingmnist", fileName, fresh) }

// npy returns a file with a header of 118 bytes.
func npy(header, pixels string) string {
	for len(header) < 117 {
		header += " "
	}
	return "\x93NUMPY\x01\x00\x76\x00" + header + "\n" + pixels
}

func TestBadFiles(t *testing.T) {
	test := func(dir string) dataset.Source { return &MovingMNIST{dir, "test", 10} }
	for _, c := range []struct {
		source        func(string) dataset.Source
		content, want string
	}{
		{fresh, "", "mnist_test_seq.npy at byte 0: the data ends"},
		{fresh, "\x93NUMPY\x02\x00\x76\x00", "want a NumPy file of version 1.0"},
		{fresh, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", "x"), "want uint8 in C order with four axes"},
		{fresh, npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1, 1, 1), }", "x"), "want uint8 in C order with four axes"},
		{fresh, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 0, 1, 1), }", ""), "size 0 of axis 1, want 1 to"},
		{fresh, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 1, 1), }", "x"), "at byte 128: 1 bytes of pixels, want 1 x 2 x 1 x 1"},
		{fresh, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (65536, 1048576, 4096, 4096), }", "x"), "want 65536 x 1048576"},
		{test, npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 1, 1), }", "xy"), "2 frames, want more than split_ratio 10"},
	} {
		settest.Refuses(t, "movingmnist", fileName, c.content, c.want, c.source)
	}
}

func FuzzMnistTestSeqNpy(f *testing.F) { settest.Fuzz(f, "movingmnist", fileName, fresh) }
